package main

import (
	"testing"
	"time"
)

// What holds for every database: sqlite_test.go has the tests.
var contract = []struct {
	name string
	test func(*testing.T, Database)
}{
	{"Ages", testAges},
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

// The age of what waits follows the clock, and is never below 0: a clock may be set back.
func testAges(t *testing.T, db Database) {
	add(t, db, "a report that waits")
	for _, row := range []struct{ shift, least, most time.Duration }{
		{-time.Hour, 0, 0},
		{time.Hour, time.Hour, time.Hour + time.Minute},
	} {
		laterBy(db, row.shift)
		counts, err := db.Counts()
		must(t, err)
		if counts.Oldest < row.least || counts.Oldest > row.most {
			t.Error("with a clock that is", row.shift, "later the report's age is", counts.Oldest)
		}
	}
}
