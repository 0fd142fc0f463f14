package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

// laterBy sets a database's clock.
func laterBy(db Database, shift time.Duration) {
	switch of := db.(type) {
	case *sqlite:
		of.shift = shift
	case *postgres:
		of.clock = clockOf(shift)
	}
}

func isGone(t *testing.T, db Database, project, id string) {
	t.Helper()
	if r, err := db.Get(project, id); err != nil || r != nil {
		t.Fatal("it is still there", r, err)
	}
}

func isThere(t *testing.T, db Database, project, id string) {
	t.Helper()
	if r, err := db.Get(project, id); err != nil || r == nil || len(r.Body) == 0 {
		t.Fatal("it is gone", r, err)
	}
}

func expire(t *testing.T, db Database, deleted int64) {
	t.Helper()
	if n, err := db.Expire(); err != nil || n != deleted {
		t.Fatal(n, "reports are deleted, not", deleted, err)
	}
}

func addTo(t *testing.T, db Database, project, body string) string {
	t.Helper()
	id := hashOf([]byte(body))
	if added, err := db.Add(of(project), id, []byte(body)); err != nil || !added {
		t.Fatal(added, err)
	}
	return id
}

// Reports leave after their project's days: those that came under this limit, and those that came under another one.
func testRetention(t *testing.T, db Database) {
	must(t, db.Set(of("short"), Settings{KeepDays: 2}))
	must(t, db.Set(of("long"), Settings{KeepDays: 4}))
	must(t, db.Set(of("shorter later"), Settings{KeepDays: 50}))
	must(t, db.Set(of("longer later"), Settings{KeepDays: 2}))
	ids := map[string]string{}
	for _, project := range []string{"short", "long", "shorter later", "longer later", "limited later", "free"} {
		ids[project] = addTo(t, db, project, "a report of "+project)
	}
	tasks, err := db.Take(9, hour)
	must(t, err)
	for i, task := range tasks {
		must(t, db.Finish(task, Result{Answer: []byte("answer of " + task.Project), Group: "g", Title: "title", Images: []Use{{uuid, "demo", i%2 == 0, false}}}))
	}
	must(t, db.Set(of("shorter later"), Settings{KeepDays: 2}))
	must(t, db.Set(of("limited later"), Settings{KeepDays: 2}))
	must(t, db.Set(of("longer later"), Settings{KeepDays: 20}))
	waits := addTo(t, db, "short", "one that waits")
	expire(t, db, 0)
	laterBy(db, 3*24*hour+hour)
	expire(t, db, 4)
	for _, project := range []string{"short", "shorter later", "limited later"} {
		isGone(t, db, project, ids[project])
	}
	isGone(t, db, "short", waits)
	for _, project := range []string{"long", "longer later", "free"} {
		isThere(t, db, project, ids[project])
		r, err := db.Get(project, ids[project])
		must(t, err)
		if string(r.Answer) != "answer of "+project || r.State != Done {
			t.Fatal(project, r.State, string(r.Answer))
		}
	}
	if groups, err := db.Groups("longer later", 9); err != nil || len(groups) != 1 {
		t.Fatal(groups, err)
	}
	if groups, err := db.Groups("short", 9); err != nil || len(groups) != 0 {
		t.Fatal(groups, err)
	}
	if again, err := db.Take(9, hour); err != nil || len(again) != 0 {
		t.Fatal("work of deleted reports", again, err)
	}
	addTo(t, db, "short", "a report of short") // its id is free again
	if c, err := db.Counts(); err != nil || c.States != [4]int{1, 0, 3, 0} {
		t.Fatal(c, err)
	}
	laterBy(db, 30*24*hour)
	expire(t, db, 3)
	isThere(t, db, "free", ids["free"])
}

// A deleted report leaves nothing, and symbols do the others again.
func testDeletedWhole(t *testing.T, db Database) {
	must(t, db.Set(of("default"), Settings{KeepDays: 2}))
	first, second := add(t, db, "first"), add(t, db, "second")
	for i := 0; i < 2; i++ {
		task := take(t, db, hour)
		must(t, db.Finish(task, Result{Answer: []byte("old"), Group: "g", Images: []Use{{uuid, "demo", true, false}}, Generation: task.Generation}))
	}
	if found, err := db.Delete(of("default"), first); err != nil || !found {
		t.Fatal(found, err)
	}
	if found, err := db.Delete(of("default"), first); err != nil || found {
		t.Fatal(found, err)
	}
	if found, err := db.Retry(of("default"), first); err != nil || found {
		t.Fatal(found, err)
	}
	if n, err := db.Improve("", []string{uuid}); err != nil || n != 1 {
		t.Fatal(n, "are done again", err)
	}
	task := take(t, db, hour)
	if !task.Again {
		t.Fatal("it has had a result")
	}
	must(t, db.Finish(task, Result{Answer: []byte("new"), Images: []Use{{uuid, "demo", false, true}}, Generation: task.Generation}))
	want(t, db, second, Done, "new")
	if missing, err := db.Missing("default", 9); err != nil || len(missing) != 0 {
		t.Fatal(missing, err)
	}
}

// The tables of a day that is over are dropped, and no rows of it stay anywhere.
func TestDaysAreDropped(t *testing.T) {
	db := openPostgres(t).(*postgres)
	must(t, db.Set(of("default"), Settings{KeepDays: 1}))
	for i := 0; i < 9; i++ {
		add(t, db, fmt.Sprint("report ", i))
	}
	for i := 0; i < 5; i++ {
		must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("a"), Images: []Use{{uuid, "demo", true, false}, {other, "other", false, false}}}))
	}
	count := func(statement string) (n int) {
		must(t, db.ask(statement, nil, &n))
		return n
	}
	const tables = "SELECT count(*)::int FROM pg_class WHERE relkind = 'r' AND relname ~ '^(body|result|uses|others)_[0-9]+$'"
	if n := count(tables); n != 4 {
		t.Fatal(n, "tables of a day")
	}
	if n := count("SELECT (SELECT count(*) FROM body_never)::int"); n != 0 {
		t.Fatal(n, "reports are among those that stay")
	}
	laterBy(db, 48*hour)
	expire(t, db, 9)
	if n := count(tables); n != 0 {
		t.Fatal(n, "tables of a day that is over")
	}
	for _, table := range append([]string{"report", "work"}, dayTables...) {
		if n := count("SELECT count(*)::int FROM " + table); n != 0 {
			t.Fatal(n, "rows of", table)
		}
	}
	if c, err := db.Counts(); err != nil || c.States != [4]int{} {
		t.Fatal(c, err)
	}
}

// oldPostgres makes a schema of before, with reports in each state.
func oldPostgres(t *testing.T, address string, version int) {
	to, err := hostsOf(address)
	must(t, err)
	raw := sql.OpenDB(to)
	defer raw.Close()
	do := func(statement string, values ...any) {
		t.Helper()
		_, err := raw.ExecContext(context.Background(), statement, values...)
		must(t, err)
	}
	do(postgresSteps[0])
	do("UPDATE machsym_schema SET version = $1", version)
	demo, _ := uuidBytes(uuid)
	second, _ := uuidBytes(other)
	do("INSERT INTO image(uuid, name, others) VALUES($1, 'demo', false), ($2, 'other', true)", demo, second)
	do("INSERT INTO project VALUES('default', 3, 7, false)")
	do("INSERT INTO token VALUES('hash', 'admin', 'default')")
	do("INSERT INTO grp VALUES('g', 'the title')")
	now := time.Now().UnixMilli()
	for number := 1; number <= 5; number++ {
		body := []byte(fmt.Sprint("report ", number))
		state := []int{0, 1, 2, 2, 3}[number-1]
		do("INSERT INTO report(project, id, received, since, state, lease, holder, until, deaths, reason, grp) VALUES('default', decode($1, 'hex'), $2, $2, $3, $4, 'a', $5, $6, $7, $8)",
			hashOf(body), now, state, 77, now+3600000, number%2, strings.Repeat("why", number/5), strings.Repeat("g", state/2%2*(state%3+1)/3))
		do("INSERT INTO body VALUES($1, $2)", number, pack(body))
	}
	for _, number := range []int{3, 4} {
		do("INSERT INTO result VALUES($1, 'a result')", number)
		do("UPDATE report SET grp = 'g' WHERE number = $1", number)
		do("INSERT INTO uses VALUES($1, 1, $2)", number, number == 3)
	}
	do("INSERT INTO others VALUES(4, '{2}')")
	for _, step := range postgresSteps[1:version] {
		do(step)
	}
}

// What an older program kept is there with the newest schema: states, leases, results, groups, images.
func TestOlderSchemasOfPostgres(t *testing.T) {
	for version := 1; version < len(postgresSteps); version++ {
		address := shared.address(t)
		oldPostgres(t, address, version)
		db := openAt(t, address, "a")
		ids := []string{""}
		for number := 1; number <= 5; number++ {
			ids = append(ids, hashOf([]byte(fmt.Sprint("report ", number))))
		}
		for number, state := range []State{-1, Waiting, Leased, Done, Done, Failed} {
			if number == 0 {
				continue
			}
			r, err := db.Get("default", ids[number])
			must(t, err)
			if r == nil || r.State != state || string(r.Answer) != strings.Repeat("a result", int(state)/2%2*(1-int(state)%2)) {
				t.Fatal(number, r)
			}
			body, err := unpack(r.Body)
			if err != nil || string(body) != fmt.Sprint("report ", number) {
				t.Fatal(string(body), err)
			}
		}
		if r, _ := db.Get("default", ids[5]); r.Reason != "why" || r.Deaths != 1 {
			t.Fatal(r)
		}
		if c, err := db.Counts(); err != nil || c.States != [4]int{1, 1, 2, 1} {
			t.Fatal(c, err)
		}
		if groups, err := db.Groups("default", 9); err != nil || len(groups) != 1 || groups[0].Count != 2 || groups[0].Title != "the title" {
			t.Fatal(groups, err)
		}
		if missing, err := db.Missing("default", 9); err != nil || len(missing) != 1 || missing[0].Reports != 1 {
			t.Fatal(missing, err)
		}
		must(t, db.Finish(Task{Number: 2, Lease: 77}, Result{Answer: []byte("late")})) // an older program gave it to a worker
		want(t, db, ids[2], Done, "late")
		for _, image := range []string{uuid, other} {
			n, err := db.Improve("", []string{image})
			if err != nil || n != map[string]int64{uuid: 2, other: 0}[image] {
				t.Fatal(image, n, err)
			}
		}
		task := take(t, db, hour)
		if task.Again || bodyOf(t, task) != "report 1" {
			t.Fatal(task)
		}
		tasks, err := db.Take(9, hour)
		must(t, err)
		for _, task := range tasks {
			must(t, db.Finish(task, Result{Answer: []byte("new"), Images: []Use{{other, "other", false, false}}, Generation: task.Generation}))
		}
		want(t, db, ids[4], Done, "new")
		if added, err := db.Add(of("default"), ids[1], []byte("report 1")); err != nil || added {
			t.Fatal("it is new again", err)
		}
		isNamed(t, db, "hash", "hash")
		laterBy(db, 4*24*hour)
		expire(t, db, 5)
		if c, err := db.Counts(); err != nil || c.States != [4]int{} {
			t.Fatal(c, err)
		}
	}
}

// A server that runs while a newer one changes the schema takes nothing more, and says why.
func TestNewerMeanwhile(t *testing.T) {
	db := openPostgres(t).(*postgres)
	id := add(t, db, "a report")
	task := take(t, db, hour)
	must(t, db.change(func(s session) error { return s.do("UPDATE machsym_schema SET version = version + 1") }))
	if _, err := db.Add(of("default"), strings.Repeat("00", 32), []byte("x")); err == nil || !isAway(err) || !strings.Contains(err.Error(), "newer machsym-server") {
		t.Fatal(err)
	}
	if err := db.Finish(task, Result{}); err == nil || !isAway(err) {
		t.Fatal(err)
	}
	if _, err := db.Take(1, hour); err != nil {
		t.Log(err) // nothing waits, so it may not look
	}
	must(t, db.change(func(s session) error { return s.do("UPDATE machsym_schema SET version = version - 1") }))
	must(t, db.Finish(task, Result{Answer: []byte("kept")}))
	want(t, db, id, Done, "kept")
}

// A report that an older program adds while the schema is brought along is not forgotten.
func TestAddedWhileMigrated(t *testing.T) {
	for version := 1; version < len(postgresSteps); version++ {
		address := shared.address(t)
		oldPostgres(t, address, version)
		to, err := hostsOf(address)
		must(t, err)
		raw := sql.OpenDB(to)
		defer raw.Close()
		older, err := raw.Begin()
		must(t, err)
		body := []byte("added meanwhile")
		var number int64
		insert, keep := "INSERT INTO report(project, id, received, since) VALUES('default', decode($1, 'hex'), 1, 1) RETURNING number", "INSERT INTO body VALUES($1, $2)"
		if version > 1 {
			insert = `WITH made AS (INSERT INTO report(project, id, received) VALUES('default', decode($1, 'hex'), 1) RETURNING number),
				waits AS (INSERT INTO work(number, project, leaves, since, again) SELECT number, 'default', 2147483647, 1, false FROM made),
				counted AS (UPDATE tally SET reports = reports + 1 WHERE slot = 3) SELECT number FROM made`
			keep = "INSERT INTO body VALUES($1, 2147483647, $2)"
		}
		must(t, older.QueryRow(insert, hashOf(body)).Scan(&number))
		_, err = older.Exec(keep, number, pack(body))
		must(t, err)
		opened := make(chan error, 1)
		go func() {
			time.Sleep(500 * time.Millisecond)
			opened <- older.Commit()
		}()
		db := openAt(t, address, "a")
		must(t, <-opened)
		want(t, db, hashOf(body), Waiting, "")
		if c, err := db.Counts(); err != nil || c.States != [4]int{2, 1, 2, 1} {
			t.Fatal(c, err)
		}
	}
}
