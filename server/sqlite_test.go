package main

import (
	"fmt"
	"testing"
	"time"
)

const (
	hour = time.Hour
	uuid = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
)

func open(t *testing.T) Database {
	db, err := OpenSQLite(t.TempDir()+"/machsym.db", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take leases the only waiting report.
func take(t *testing.T, db Database, lease time.Duration) Task {
	t.Helper()
	tasks, err := db.Take(1, lease)
	must(t, err)
	if len(tasks) != 1 {
		t.Fatalf("%d reports wait, not 1", len(tasks))
	}
	return tasks[0]
}

func add(t *testing.T, db Database, body string) string {
	t.Helper()
	id := hashOf([]byte(body))
	added, err := db.Add("default", id, []byte(body))
	must(t, err)
	if !added {
		t.Fatal("it was there")
	}
	return id
}

func want(t *testing.T, db Database, id string, state State, answer string) {
	t.Helper()
	r, err := db.Get("default", id)
	must(t, err)
	if r == nil || r.State != state || string(r.Answer) != answer {
		t.Fatalf("it is %+v, not %s with %q", r, state, answer)
	}
}

// A worker whose lease has ended is too late. The result of the worker with the new lease counts.
func TestLateResult(t *testing.T) {
	db := open(t)
	id := add(t, db, "a report")
	late := take(t, db, -hour)
	now := take(t, db, hour)
	must(t, db.Finish(late, Result{Answer: []byte("late")}))
	want(t, db, id, Leased, "")
	if dead, err := db.Fail(late, "late", true, 3); err != nil || dead {
		t.Fatal("a late failure counts", err)
	}
	want(t, db, id, Leased, "")
	must(t, db.Finish(now, Result{Answer: []byte("now")}))
	want(t, db, id, Done, "now")
	must(t, db.Finish(late, Result{Answer: []byte("late"), Group: "late", Title: "late", Images: []Use{{uuid, "demo", true}}}))
	want(t, db, id, Done, "now")
	if missing, err := db.Missing("default", 9); err != nil || len(missing) != 0 {
		t.Fatal("the late result says what is missing", missing, err)
	}
}

// Symbols arrive while a worker has two reports. The report that uses them waits again, the other one does
// not.
func TestSymbolsDuringWork(t *testing.T) {
	db := open(t)
	others := []Use{{other, "other", true}}
	demo := []Use{{uuid, "demo", true}, others[0]}
	first, second := add(t, db, "uses them"), add(t, db, "uses others")
	uses, not := take(t, db, hour), take(t, db, hour)
	if _, err := db.Improve("an upload", []string{uuid}); err != nil {
		t.Fatal(err)
	}
	must(t, db.Finish(uses, Result{Answer: []byte("old"), Images: demo, Generation: uses.Generation}))
	must(t, db.Finish(not, Result{Answer: []byte("good"), Images: others, Generation: not.Generation}))
	want(t, db, first, Waiting, "old")
	want(t, db, second, Done, "good")
	again := take(t, db, hour)
	must(t, db.Finish(again, Result{Answer: []byte("new"), Images: demo, Generation: again.Generation}))
	want(t, db, first, Done, "new")
}

// A report stays deleted even if a worker had it.
func TestDeletedDuringWork(t *testing.T) {
	db := open(t)
	id := add(t, db, "a report")
	work := take(t, db, hour)
	if found, err := db.Delete("default", id); err != nil || !found {
		t.Fatal(found, err)
	}
	must(t, db.Finish(work, Result{Answer: []byte("late"), Images: []Use{{uuid, "demo", true}}}))
	if r, err := db.Get("default", id); err != nil || r != nil {
		t.Fatal("it is there", err)
	}
	if missing, err := db.Missing("default", 9); err != nil || len(missing) != 0 {
		t.Fatal("it waits for symbols", missing, err)
	}
}

// A report uses each image once, also if it names one twice, has one without a UUID, or has thousands.
func TestManyImages(t *testing.T) {
	db := open(t)
	id := add(t, db, "a report")
	images := []Use{{uuid, "demo", false}, {"", "none", true}, {uuid, "again", true}}
	for i := 0; i < 1000; i++ {
		images = append(images, Use{fmt.Sprintf("%032X", i), "other", i%2 == 1})
	}
	work := take(t, db, hour)
	must(t, db.Finish(work, Result{Answer: []byte("a result"), Images: images, Generation: work.Generation}))
	want(t, db, id, Done, "a result")
	missing, err := db.Missing("default", 10000)
	must(t, err)
	names := map[string]int{}
	for _, w := range missing {
		names[w.Name]++
	}
	if len(missing) != 501 || names["demo"] != 1 || names["other"] != 500 {
		t.Fatal(len(missing), names)
	}
	for _, image := range []string{uuid, fmt.Sprintf("%032X", 999)} {
		if redone, err := db.Improve("an upload", []string{image}); err != nil || redone != 1 {
			t.Fatal(image, redone, err)
		}
		must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("a result"), Images: images, Generation: 9}))
	}
}
