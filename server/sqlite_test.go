package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	hour = time.Hour
	uuid = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
)

func openSQLite(t *testing.T) Database {
	db, err := OpenSQLite(t.TempDir()+"/machsym.db", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		isTallied(t, db)
		db.Close()
	})
	return db
}

// isTallied compares the kept counts of states with the rows, and the age of the oldest with that of all that wait.
func isTallied(t *testing.T, db Database) {
	t.Helper()
	kept, err := db.Counts()
	must(t, err)
	var found Counts
	read := db.(*sqlite).read
	must(t, countStates(read, &found, "SELECT state, count(*) FROM report GROUP BY state"))
	if kept.States != found.States {
		t.Error("the kept counts are", kept.States, "and those of the rows", found.States)
	}
}

// least is the shortest time of some calls.
func least(t *testing.T, call func() error) time.Duration {
	t.Helper()
	shortest := time.Hour
	for i := 0; i < 20; i++ {
		begin := time.Now()
		must(t, call())
		if took := time.Since(begin); took < shortest {
			shortest = took
		}
	}
	return shortest
}

// What a server asks all the time takes no longer when many reports wait or are done.
func TestManyReports(t *testing.T) {
	var took [2][2]time.Duration
	for i, count := range []int{50, 50000} {
		db := openSQLite(t).(*sqlite)
		must(t, db.change(func(tx *statements) error {
			_, err := tx.Exec(`INSERT INTO report(project, id, received, state, since) SELECT 'p' || (value % 3), value, 1, value % 2 * 2, value FROM
				(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?) SELECT value FROM n)`, count)
			return err
		}))
		took[i][0] = least(t, func() error { _, err := db.Counts(); return err })
		took[i][1] = least(t, func() error {
			found, err := texts(db.read, projectsWaiting)
			if len(found) != 3 {
				t.Error("waiting reports are of", found)
			}
			return err
		})
	}
	for i, what := range []string{"counts", "projects with waiting reports"} {
		if took[1][i] > 8*took[0][i] {
			t.Error(what, "take", took[1][i], "of 50,000 reports,", took[0][i], "of 50")
		}
	}
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
	added, err := db.Add(of("default"), id, []byte(body))
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

// A group says how many reports it has, and when its first and its last one were received. Lists are the newest first, and
// empty where there is nothing. Missing images are counted by reports.
func testGroupsAndLists(t *testing.T, db Database) {
	began := time.Now().Add(-time.Second)
	lists, err := db.List("default", Done, 10)
	if groups, err := db.Groups("default", 10); err != nil || groups == nil || len(groups) != 0 {
		t.Fatal("groups of nothing", groups, err)
	}
	if err != nil || lists == nil || len(lists) != 0 {
		t.Fatal("a list of nothing", lists, err)
	}
	const count = 3
	var ids [count]string
	for i := range ids {
		ids[i] = add(t, db, fmt.Sprint("report ", i))
		must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("done"), Group: "hash", Title: "title", Images: []Use{{uuid, "demo", true, false}}}))
		time.Sleep(20 * time.Millisecond)
	}
	groups, err := db.Groups("default", 10)
	must(t, err)
	if len(groups) != 1 || groups[0].Hash != "hash" || groups[0].Title != "title" || groups[0].Count != count ||
		!groups[0].First.Before(groups[0].Last) || groups[0].First.Before(began) || groups[0].Last.After(time.Now().Add(time.Second)) {
		t.Fatalf("%+v", groups)
	}
	done, err := db.List("default", Done, count-1)
	must(t, err)
	if len(done) != count-1 || done[0].ID != ids[2] || done[1].ID != ids[1] || !done[0].Received.Equal(groups[0].Last) {
		t.Fatalf("%+v", done)
	}
	missing, err := db.Missing("default", 10)
	must(t, err)
	if len(missing) != 1 || missing[0] != (Want{UUID: uuid, Name: "demo", Reports: count}) {
		t.Fatalf("%+v", missing)
	}
	counts, err := db.Counts()
	must(t, err)
	if counts.States != [4]int{Done: count} || counts.Oldest != 0 {
		t.Fatalf("%+v", counts)
	}
}

// A worker whose lease has ended is too late. The result of the worker with the new lease counts.
func testLateResult(t *testing.T, db Database) {
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
	must(t, db.Finish(late, Result{Answer: []byte("late"), Group: "late", Title: "late", Images: []Use{{uuid, "demo", true, false}}}))
	want(t, db, id, Done, "now")
	if missing, err := db.Missing("default", 9); err != nil || len(missing) != 0 {
		t.Fatal("the late result says what is missing", missing, err)
	}
}

// Symbols arrive while a worker has two reports. The report that uses them waits again, the other one does
// not.
func testSymbolsDuringWork(t *testing.T, db Database) {
	others := []Use{{other, "other", true, false}}
	demo := []Use{{uuid, "demo", true, false}, others[0]}
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

// A new start ends all leases. A result of an ended lease is dropped, also when no other worker has the report
// yet, and a result counts once.
func testReleasedWork(t *testing.T, db Database) {
	id := add(t, db, "a report")
	late := take(t, db, hour)
	must(t, db.Release())
	must(t, db.Finish(late, Result{Answer: []byte("late")}))
	want(t, db, id, Waiting, "")
	if dead, err := db.Fail(late, "late", true, 3); err != nil || dead {
		t.Fatal("a late failure counts", err)
	}
	now := take(t, db, hour)
	must(t, db.Finish(now, Result{Answer: []byte("now")}))
	must(t, db.Finish(now, Result{Answer: []byte("twice")}))
	want(t, db, id, Done, "now")
}

// Symbols that a worker had do not make its report wait again when symbols of other images come.
func testOlderSymbols(t *testing.T, db Database) {
	if _, err := db.Improve("an upload", []string{uuid}); err != nil {
		t.Fatal(err)
	}
	id := add(t, db, "a report")
	work := take(t, db, hour)
	if _, err := db.Improve("another", []string{other}); err != nil {
		t.Fatal(err)
	}
	must(t, db.Finish(work, Result{Answer: []byte("good"), Images: []Use{{uuid, "demo", false, true}}, Generation: work.Generation}))
	want(t, db, id, Done, "good")
}

// A report stays deleted even if a worker had it.
func testDeletedDuringWork(t *testing.T, db Database) {
	id := add(t, db, "a report")
	work := take(t, db, hour)
	if found, err := db.Delete(of("default"), id); err != nil || !found {
		t.Fatal(found, err)
	}
	must(t, db.Finish(work, Result{Answer: []byte("late"), Images: []Use{{uuid, "demo", true, false}}}))
	if r, err := db.Get("default", id); err != nil || r != nil {
		t.Fatal("it is there", err)
	}
	if missing, err := db.Missing("default", 9); err != nil || len(missing) != 0 {
		t.Fatal("it waits for symbols", missing, err)
	}
}

// A report uses each image once, also if it names one twice, has one without a UUID, or has thousands.
func testManyImages(t *testing.T, db Database) {
	id := add(t, db, "a report")
	images := []Use{{uuid, "demo", false, false}, {"", "none", true, false}, {uuid, "again", true, false}}
	for i := 0; i < 1000; i++ {
		images = append(images, Use{fmt.Sprintf("%032X", i), "other", i%2 == 1, false})
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

// A report that names an image twice uses it once: it waits for it if one of both does, has its symbols if one of both has, and
// needs none if neither does.
func testImageTwice(t *testing.T, db Database) {
	lower := strings.ToLower(strings.ReplaceAll(uuid, "-", ""))
	for _, one := range []struct {
		first, second                Use
		missing, withSymbols, others int
	}{
		{Use{uuid, "demo", true, false}, Use{uuid, "demo", true, false}, 1, 1, 0},
		{Use{uuid, "demo", false, true}, Use{lower, "demo", false, true}, 0, 1, 0},
		{Use{uuid, "demo", false, false}, Use{uuid, "demo", true, false}, 1, 1, 0},
		{Use{lower, "demo", true, false}, Use{uuid, "demo", false, false}, 1, 1, 0},
		{Use{uuid, "demo", false, false}, Use{lower, "demo", false, true}, 0, 1, 0},
		{Use{uuid, "demo", false, true}, Use{uuid, "demo", true, false}, 1, 1, 0},
		{Use{uuid, "demo", false, false}, Use{lower, "demo", false, false}, 0, 0, 1},
	} {
		id := add(t, db, "a report")
		work := take(t, db, hour)
		must(t, db.Finish(work, Result{Answer: []byte("a result"), Images: []Use{one.first, {other, "other", true, false}, one.second}, Generation: work.Generation}))
		want(t, db, id, Done, "a result")
		waits := 0
		missing, err := db.Missing("default", 100)
		for _, w := range missing {
			if w.UUID == uuid {
				waits += w.Reports
			}
		}
		must(t, err)
		uses, others := usesOf(t, db)
		if waits != one.missing || uses != one.withSymbols+1 || others != one.others {
			t.Fatalf("%+v: %d wait for it, %d rows of uses, %d others", one, waits, uses, others)
		}
		found, err := db.Delete(of("default"), id)
		if must(t, err); !found {
			t.Fatal("it is not deleted")
		}
	}
}

// usesOf counts the rows of images that need symbols, and the entries of others.
func usesOf(t *testing.T, db Database) (uses, others int) {
	t.Helper()
	switch of := db.(type) {
	case *sqlite:
		must(t, of.read.QueryRow("SELECT (SELECT count(*) FROM uses), (SELECT sum(json_array_length(images)) FROM others)").Scan(&uses, &others))
	case *postgres:
		must(t, of.db.QueryRow("SELECT (SELECT count(*) FROM uses), (SELECT sum(cardinality(images)) FROM others)").Scan(&uses, &others))
	}
	return uses, others
}

// Symbols of an image that needed none, as those of the system: reports that use it are done again, also when
// a worker has one.
func testSymbolsOfOthers(t *testing.T, db Database) {
	system := []Use{{uuid, "demo", false, true}, {other, "libsystem", false, false}}
	first, second, third := add(t, db, "uses it"), add(t, db, "does not"), add(t, db, "is in work")
	for _, images := range [][]Use{system, system[:1]} {
		work := take(t, db, hour)
		must(t, db.Finish(work, Result{Answer: []byte("old"), Images: images, Generation: work.Generation}))
	}
	working := take(t, db, hour)
	redone, err := db.Improve("a shared cache", []string{other, "00000000-0000-0000-0000-000000000002"})
	if must(t, err); redone != 1 {
		t.Fatal(redone, "are done again, not 1")
	}
	must(t, db.Finish(working, Result{Answer: []byte("old"), Images: system, Generation: working.Generation}))
	want(t, db, first, Waiting, "old")
	want(t, db, second, Done, "old")
	want(t, db, third, Waiting, "old")
	for i := 0; i < 2; i++ {
		again := take(t, db, hour)
		must(t, db.Finish(again, Result{Answer: []byte("new"), Images: []Use{system[0], {other, "libsystem", false, true}}, Generation: again.Generation}))
	}
	want(t, db, first, Done, "new")
	if redone, err := db.Improve("the same", []string{other}); err != nil || redone != 2 {
		t.Fatal(redone, "are done again, not 2", err)
	}
}

// Of changes that share a commit one fails: it alone is undone, and an image that it added is added again.
func TestFailedChange(t *testing.T) {
	s := openSQLite(t).(*sqlite)
	named := func(name string, last error) change {
		return change{do: func(tx *statements) error {
			if _, err := tx.Exec("INSERT INTO upload VALUES(?, '', '', '')", name); err != nil {
				return err
			}
			if _, err := s.known.imageOf(tx, uuid, "demo"); err != nil {
				return err
			}
			return last
		}}
	}
	must(t, s.change(func(*statements) error { // here the connection is not used by others
		if _, err := s.write.Exec("COMMIT"); err != nil {
			return err
		}
		failed := errors.New("it fails")
		results := s.commitSurely([]change{named("first", failed), named("second", nil), named("third", failed), named("fourth", nil)})
		if results[0] != failed || results[1] != nil || results[2] != failed || results[3] != nil {
			t.Error(results)
		}
		_, err := s.write.Exec("BEGIN IMMEDIATE")
		return err
	}))
	if uploads, err := s.Uploads(); err != nil || len(uploads) != 2 || uploads[0] != "fourth" || uploads[1] != "second" {
		t.Fatal(uploads, err)
	}
	if images, err := texts(s.read, "SELECT name FROM image"); err != nil || len(images) != 1 {
		t.Fatal(images, err)
	}
}

// A report over the quota is neither kept nor counted, and does not disturb others.
func testQuota(t *testing.T, db Database) {
	must(t, db.Set(of("default"), Settings{Quota: 2}))
	add(t, db, "first")
	id := add(t, db, "second")
	for i := 0; i < 2; i++ {
		if added, err := db.Add(of("default"), hashOf([]byte("third")), []byte("third")); added || !errors.Is(err, ErrQuota) {
			t.Fatal(added, err)
		}
	}
	if added, err := db.Add(of("default"), id, []byte("second")); added || err != nil {
		t.Fatal("a report that is there", added, err)
	}
	if r, err := db.Get("default", hashOf([]byte("third"))); r != nil || err != nil {
		t.Fatal("it is there", err)
	}
	must(t, db.Set(of("default"), Settings{Quota: 3}))
	add(t, db, "third")
}
