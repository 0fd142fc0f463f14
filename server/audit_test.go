package main

import (
	"fmt"
	"math"
	"testing"
)

// of is a caller in a project.
func of(project string) Caller { return Caller{project, "phone", "192.0.2.1"} }

func span(project string, limit int) Span {
	return Span{Project: project, Until: math.MaxInt64, Before: place{math.MaxInt64, math.MaxInt64}, Limit: limit}
}

func newest(t *testing.T, db Database, project string, limit int) []Event {
	t.Helper()
	list, err := db.Audit(span(project, limit))
	must(t, err)
	return list
}

// isAudited compares a project's audit, the oldest first, with what was done.
func isAudited(t *testing.T, db Database, project string, done ...string) {
	t.Helper()
	list := newest(t, db, project, 100)
	if len(list) != len(done) {
		t.Fatal("the audit has", list, "not", done)
	}
	for i, text := range done {
		e := list[len(list)-1-i]
		if fmt.Sprint(e.Token, " ", e.Address, " ", e.Action, " ", e.Object) != text {
			t.Fatal("the audit has", e, "not", text)
		}
	}
}

// Each change has its row, and what changes nothing has none. Pages follow each other without a gap. Old rows leave.
func testAudit(t *testing.T, db Database) {
	id := add(t, db, "a report")
	if added, err := db.Add(of("default"), id, []byte("a report")); added || err != nil {
		t.Fatal(added, err)
	}
	addTo(t, db, "other", "another")
	must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("a")}))
	must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("b")}))
	other := Caller{"default", "desk \"x\"", "2001:db8::1"}
	must(t, db.Record(other, didRead, id))
	must(t, db.Set(of("default"), Settings{KeepDays: 9}))
	if found, err := db.Retry(other, id); !found || err != nil {
		t.Fatal(found, err)
	}
	for _, there := range []bool{true, false} {
		if found, err := db.Delete(other, id); found != there || err != nil {
			t.Fatal(found, err)
		}
	}
	must(t, db.AddToken(Caller{Project: "default"}, "hash", Token{"read", "default", "tablet"}))
	who := other.Token + " " + other.Address
	isAudited(t, db, "default", "phone 192.0.2.1 send "+id, who+" read "+id, `phone 192.0.2.1 settings {"keep_days":9,"quota":0,"redact":false}`,
		who+" retry "+id, who+" delete "+id, "  token read tablet")
	isAudited(t, db, "other", "phone 192.0.2.1 send "+hashOf([]byte("another")))
	all, paged := newest(t, db, "default", 100), []Event{}
	for page := span("default", 1); ; {
		list, err := db.Audit(page)
		if must(t, err); len(list) == 0 {
			break
		}
		paged, page.Before = append(paged, list...), list[0].place
	}
	if fmt.Sprint(paged) != fmt.Sprint(all) {
		t.Fatal("pages are", paged, "and all is", all)
	}
	part := span("default", 100)
	part.Since, part.Until = all[4].place.time, all[1].place.time
	for _, e := range all {
		wanted, found := e.place.time >= part.Since && e.place.time < part.Until, false
		list, err := db.Audit(part)
		must(t, err)
		for _, one := range list {
			found = found || one.place == e.place
		}
		if wanted != found {
			t.Fatal(e, "is between the times:", wanted, "and told:", found)
		}
	}
	for _, days := range []int{3, 1} {
		laterBy(db, 2*24*hour)
		n, err := db.ExpireAudit(days)
		if must(t, err); n != map[int]int64{3: 0, 1: 7}[days] {
			t.Fatal(n, "rows leave after", days)
		}
	}
	laterBy(db, 0)
	isAudited(t, db, "default")
}

// The images of an upload are told with who sent it, also when another program ends it. What a source had is no upload.
func testAuditOfUploads(t *testing.T, db Database) {
	must(t, db.BeginUpload(of("default"), "upload-1"))
	isAudited(t, db, "default")
	_, err := db.Improve("upload-1", []string{uuid, other})
	must(t, err)
	_, err = db.Improve("", []string{uuid})
	must(t, err)
	_, err = db.Improve("upload-1", []string{uuid})
	must(t, err)
	isAudited(t, db, "default", "phone 192.0.2.1 upload "+uuid, "phone 192.0.2.1 upload "+other)
}

// Where the audit cannot be written, nothing is changed.
func testAuditUndone(t *testing.T, db Database) {
	id := add(t, db, "a report")
	switch of := db.(type) {
	case *sqlite:
		must(t, of.change(func(tx *statements) error { _, err := tx.Exec("DROP TABLE audit"); return err }))
	case *postgres:
		must(t, of.change(func(s session) error { return s.do("DROP TABLE audit") }))
	}
	if added, err := db.Add(of("default"), hashOf([]byte("x")), []byte("x")); added || err == nil {
		t.Fatal(added, err)
	}
	if found, err := db.Delete(of("default"), id); found || err == nil {
		t.Fatal(found, err)
	}
	if err := db.Set(of("default"), Settings{Quota: 1}); err == nil {
		t.Fatal("settings are changed")
	}
	if err := db.AddToken(of("default"), "hash", Token{"read", "default", "x"}); err == nil {
		t.Fatal("a token is made")
	}
	if err := db.Record(of("default"), didRead, id); err == nil {
		t.Fatal("a result may be read")
	}
	want(t, db, id, Waiting, "")
	isGone(t, db, "default", hashOf([]byte("x")))
	set, err := db.Settings("default")
	if must(t, err); set != (Settings{}) {
		t.Fatal(set)
	}
	token, err := db.FindToken("hash")
	if must(t, err); token != nil {
		t.Fatal(token)
	}
}

// A name is one token's in its project, also when two come at once. A revoked one is gone, and others stay.
func testTokens(t *testing.T, db Database) {
	results := make(chan error, 8)
	for i := 0; i < cap(results); i++ {
		go func(hash string) { results <- db.AddToken(of("default"), hash, Token{"read", "default", "one"}) }(fmt.Sprint("hash", i))
	}
	made := 0
	for i := 0; i < cap(results); i++ {
		if err := <-results; err == nil {
			made++
		} else if err != ErrTaken {
			t.Fatal(err)
		}
	}
	must(t, db.AddToken(of("other"), "theirs", Token{"read", "other", "one"}))
	list, err := db.Tokens("default")
	if must(t, err); made != 1 || len(list) != 1 || list[0] != (Token{"read", "default", "one"}) {
		t.Fatal(made, list)
	}
	for _, there := range []bool{true, false} {
		if found, err := db.DeleteToken(of("default"), "one"); found != there || err != nil {
			t.Fatal(found, err)
		}
	}
	token, err := db.FindToken("theirs")
	if must(t, err); token == nil {
		t.Fatal("another project's token is gone")
	}
	isAudited(t, db, "default", "phone 192.0.2.1 token read one", "phone 192.0.2.1 revoke one")
}
