package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func ofPeople(names ...string) Result {
	return Result{Answer: []byte("a"), Group: "g", Title: "title", People: names, Images: []Use{{uuid, "demo", true, false}}}
}

// A user's reports leave, with all that is kept of them: those with results, those that get theirs later, and those of an older
// program, whose people are unknown. Others stay: of other users, of other projects, and what comes later.
func testForget(t *testing.T, db Database) {
	must(t, db.Set(of("default"), Settings{KeepDays: 9}))
	ids := map[string]string{}
	finish := func(task Task) {
		switch string(bodyOf(t, task)) {
		case "ann's", "ann's of before", "ann's that waits", "ann's of elsewhere", "ann's of later":
			must(t, db.Finish(task, ofPeople("ann@example.org", "ANN-KEY", "ann@example.org")))
		case "bob's":
			must(t, db.Finish(task, ofPeople("bob@example.org")))
		case "a stranger's":
			must(t, db.Finish(task, ofPeople()))
		default:
			_, err := db.Fail(task, "why", true, 1)
			must(t, err)
		}
	}
	for _, name := range []string{"ann's", "bob's", "a stranger's", "ann's of before", "one that fails"} {
		ids[name] = add(t, db, name)
		finish(take(t, db, hour))
	}
	ids["ann's of elsewhere"] = addTo(t, db, "other", "ann's of elsewhere")
	finish(take(t, db, hour))
	number := 0
	switch of := db.(type) { // as an older program left it
	case *sqlite:
		must(t, of.change(func(tx *statements) error {
			_, err := tx.Exec("UPDATE others SET people = NULL WHERE number = 4")
			return err
		}))
		must(t, of.read.QueryRow("SELECT count(*) FROM others WHERE people IS NULL").Scan(&number))
	case *postgres:
		must(t, of.change(func(s session) error { return s.do("UPDATE others SET people = NULL WHERE number = 4") }))
		must(t, of.ask("SELECT count(*) FROM others WHERE people IS NULL", nil, &number))
	}
	if number != 1 {
		t.Fatal(number, "are of an older program")
	}
	ids["ann's that waits"] = add(t, db, "ann's that waits")
	working := take(t, db, hour)
	done, err := db.Forget(of("default"), "ann@example.org")
	if must(t, err); done != (Forgotten{1, 3}) {
		t.Fatal(done)
	}
	isGone(t, db, "default", ids["ann's"])
	isThere(t, db, "default", ids["ann's that waits"])
	ids["ann's of later"] = add(t, db, "ann's of later")
	later := hashOf([]byte("ann's of later"))
	switch of := db.(type) { // the clock may stand still in between
	case *sqlite:
		must(t, of.change(func(tx *statements) error {
			_, err := tx.Exec("UPDATE report SET received = received + 9 WHERE hex(id) = upper(?)", later)
			return err
		}))
	case *postgres:
		must(t, of.change(func(s session) error {
			return s.do("UPDATE report SET received = received + 9 WHERE id = decode($1, 'hex')", later)
		}))
	}
	finish(working)
	tasks, err := db.Take(9, hour)
	must(t, err)
	for _, task := range tasks {
		finish(task)
	}
	for name, id := range ids {
		project := map[bool]string{true: "other", false: "default"}[name == "ann's of elsewhere"]
		if name == "ann's" || name == "ann's of before" || name == "ann's that waits" {
			isGone(t, db, project, id)
		} else {
			isThere(t, db, project, id)
		}
	}
	groups, err := db.Groups("default", 9)
	if must(t, err); len(groups) != 1 || groups[0].Count != 3 {
		t.Fatal(groups)
	}
	missing, err := db.Missing("default", 9)
	if must(t, err); len(missing) != 1 || missing[0].Reports != 3 {
		t.Fatal(missing)
	}
	if c, err := db.Counts(); err != nil || c.States != [4]int{0, 0, 4, 1} {
		t.Fatal(c, err)
	}
	deleted := map[string]string{}
	for _, e := range newest(t, db, "default", 100) {
		if e.Action == didDelete {
			deleted[e.Object] = e.Token
		}
	}
	if fmt.Sprint(deleted) != fmt.Sprint(map[string]string{ids["ann's"]: "phone", ids["ann's of before"]: "", ids["ann's that waits"]: ""}) {
		t.Fatal("the audit has", deleted)
	}
	for _, user := range []string{"ann@example.org", "carl"} { // again
		if done, err = db.Forget(of("default"), user); err != nil || done.Waiting != 1 || done.Deleted != map[string]int64{"carl": 0, "ann@example.org": 1}[user] {
			t.Fatal(user, done, err)
		}
	}
}

// The file of the database has a person's number, and not the name.
func TestPeopleAreNotKept(t *testing.T) {
	folder := t.TempDir()
	db, err := OpenSQLite(folder+"/machsym.db", 0)
	must(t, err)
	add(t, db, "a report")
	must(t, db.Finish(take(t, db, hour), ofPeople("ann@example.org")))
	_, err = db.Forget(of("default"), "bob@example.org")
	must(t, err)
	var people string
	must(t, db.(*sqlite).read.QueryRow("SELECT people FROM others").Scan(&people))
	if people != fmt.Sprintf("[%d]", personOf(db.(*sqlite).secret, "default", "ann@example.org")) {
		t.Fatal(people)
	}
	must(t, db.Close())
	files, _ := filepath.Glob(folder + "/*")
	for _, path := range files {
		kept, err := os.ReadFile(path)
		must(t, err)
		if bytes.Contains(kept, []byte("example.org")) {
			t.Fatal(path, "has the name")
		}
	}
}
