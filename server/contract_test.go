package main

import "testing"

// What holds for every database: sqlite_test.go has the tests.
var contract = []struct {
	name string
	test func(*testing.T, Database)
}{
	{"Audit", testAudit},
	{"AuditOfUploads", testAuditOfUploads},
	{"AuditUndone", testAuditUndone},
	{"BrokenCommit", testBrokenCommit},
	{"BrokenCommitOfAdd", testBrokenCommitOfAdd},
	{"BrokenCommitOfResult", testBrokenCommitOfResult},
	{"DeletedDuringWork", testDeletedDuringWork},
	{"DeletedWhole", testDeletedWhole},
	{"Forget", testForget},
	{"GroupsAndLists", testGroupsAndLists},
	{"ImageTwice", testImageTwice},
	{"LateResult", testLateResult},
	{"ManyImages", testManyImages},
	{"NearReports", testNearReports},
	{"NearSettings", testNearSettings},
	{"OlderSymbols", testOlderSymbols},
	{"Quota", testQuota},
	{"Retention", testRetention},
	{"ReleasedWork", testReleasedWork},
	{"SymbolsDuringWork", testSymbolsDuringWork},
	{"SymbolsOfOthers", testSymbolsOfOthers},
	{"Tokens", testTokens},
}

var databases = []struct {
	name string
	open func(*testing.T) Database
}{{"SQLite", openSQLite}, {"PostgreSQL", openPostgres}}

func TestContract(t *testing.T) {
	for _, kind := range databases {
		t.Run(kind.name, func(t *testing.T) {
			for _, one := range contract {
				t.Run(one.name, func(t *testing.T) { one.test(t, kind.open(t)) })
			}
		})
	}
}
