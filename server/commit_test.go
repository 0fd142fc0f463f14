package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// execute runs a text outside of all transactions.
func execute(t *testing.T, db Database, text string) {
	t.Helper()
	var err error
	switch of := db.(type) {
	case *sqlite:
		_, err = of.write.on.(*sql.Conn).ExecContext(context.Background(), text)
	case *postgres:
		_, err = of.db.Exec(text)
	}
	must(t, err)
}

// breakCommits lets each transaction that adds a row to a table fail at its end: all of its statements succeed, the commit does not. What
// it returns mends that.
func breakCommits(t *testing.T, db Database, table string) (mend func()) {
	t.Helper()
	if _, ok := db.(*sqlite); ok {
		execute(t, db, "PRAGMA foreign_keys = on")
		execute(t, db, "CREATE TABLE empty(number INTEGER PRIMARY KEY)")
		execute(t, db, "CREATE TABLE late(number REFERENCES empty DEFERRABLE INITIALLY DEFERRED)")
		execute(t, db, "CREATE TRIGGER broken AFTER INSERT ON "+table+" BEGIN INSERT INTO late VALUES(1); END")
		return func() { execute(t, db, "DROP TRIGGER broken") }
	}
	execute(t, db, "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the commit fails'; END $$")
	execute(t, db, "CREATE CONSTRAINT TRIGGER broken AFTER INSERT ON "+table+" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION broken()")
	return func() { execute(t, db, "DROP TRIGGER broken ON "+table) }
}

// serving is a server's HTTP over a database, with a token. Its reports wait, since no worker runs.
func serving(t *testing.T, db Database) (post func(body string) (status int, new bool)) {
	must(t, db.AddToken(of("default"), hashOf([]byte("secret")), Token{"send", "default", "phone"}))
	p := echoPool(t, db, echoing)
	s := &server{db: db, pool: p, stats: p.stats, log: logger{io.Discard, new(sync.Mutex)}, maxReport: 1 << 20, slow: hour}
	h := httptest.NewUnstartedServer(s.routes())
	h.Config.ConnContext = keepConn
	h.Start()
	t.Cleanup(h.Close)
	return func(body string) (int, bool) {
		request, _ := http.NewRequest("POST", h.URL+"/reports", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		defer answer.Body.Close()
		var said taken
		must(t, json.NewDecoder(answer.Body).Decode(&said))
		return answer.StatusCode, said.New
	}
}

// A commit that fails is 503 to each report that shares it, and never 201 or 200. When it succeeds again, the same reports are new. So
// it is for those that go to a worker from memory, and for those that wait because others do.
func testBrokenCommit(t *testing.T, db Database) {
	post := serving(t, db)
	mend := breakCommits(t, db, "report")
	bodies := []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}
	together := func(wanted int, isNew bool) {
		t.Helper()
		var all sync.WaitGroup
		for _, body := range bodies {
			all.Add(1)
			go func(body string) {
				defer all.Done()
				if status, new := post(body); status != wanted || new != isNew {
					t.Errorf("%s: %d, new: %v; not %d", body, status, new, wanted)
				}
			}(body)
		}
		all.Wait()
		for _, body := range bodies {
			if r, err := db.Get("default", hashOf([]byte(body))); err != nil || (r != nil) != (wanted < 300) {
				t.Errorf("%s is there: %v, after %d, %v", body, r != nil, wanted, err)
			}
		}
	}
	together(503, false)
	mend()
	together(201, true)
	together(200, false)
}

// The same for reports that wait in the database from the first.
func testBrokenCommitOfAdd(t *testing.T, db Database) {
	mend := breakCommits(t, db, "report")
	id := hashOf([]byte("a report"))
	if added, err := db.Add(of("default"), id, []byte("a report")); added || err == nil {
		t.Fatal("it is added:", added, err)
	}
	mend()
	if again := add(t, db, "a report"); again != id {
		t.Fatal(again)
	}
}

// A result whose commit fails is not kept, and the report is in work as before.
func testBrokenCommitOfResult(t *testing.T, db Database) {
	id := add(t, db, "a report")
	work := take(t, db, hour)
	mend := breakCommits(t, db, "result")
	result := Result{Answer: []byte("a result"), Images: []Use{{uuid, "demo", true, false}}, Generation: work.Generation}
	if err := db.Finish(work, result); err == nil {
		t.Fatal("a commit that fails is no error")
	}
	want(t, db, id, Leased, "")
	mend()
	must(t, db.Finish(work, result))
	want(t, db, id, Done, "a result")
}
