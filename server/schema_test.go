package main

import (
	"database/sql"
	"fmt"
	"testing"
)

const other = "00000000-0000-0000-0000-000000000001"

// oldDatabase creates a file with an old schema and two reports with results. Both use one image; the first
// one uses another, too.
func oldDatabase(t *testing.T, path string, version int) {
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	do := func(statement string, values ...any) {
		t.Helper()
		_, err := db.Exec(statement, values...)
		must(t, err)
	}
	first := version // uses name images by their UUIDs up to 2
	if first > 2 {
		first = 2
	}
	for _, step := range steps[:first] {
		do(step)
	}
	do(fmt.Sprintf("PRAGMA user_version = %d", version))
	demo, err := uuidBytes(uuid)
	must(t, err)
	second, err := uuidBytes(other)
	must(t, err)
	do("INSERT INTO image VALUES(?,'demo'), (?,'other')", demo, second)
	do("INSERT INTO symbol VALUES(?,1)", second)
	do("UPDATE meta SET generation = 1")
	for number, use := range [][]byte{demo, demo} {
		do("INSERT INTO report(number, project, id, received, since, body, state, answer) VALUES(?,'default',?,1,1,?,2,?)",
			number+1, []byte{byte(number + 1)}, pack([]byte("a report")), []byte("a result"))
		do("INSERT INTO uses VALUES(?,?,1)", use, number+1)
	}
	do("INSERT INTO uses VALUES(?,1,0)", second)
	do("INSERT INTO token VALUES('0123456789abcdef','admin','default')")
	for _, step := range steps[first:version] {
		do(step)
	}
}

func bodyOf(t *testing.T, task Task) string {
	body, err := unpack(task.Body)
	must(t, err)
	return string(body)
}

// Every older schema becomes the newest one. What waits for symbols, what uses them and what is deleted stay
// as before.
func TestOlderSchemas(t *testing.T) {
	for version := 1; version < len(steps); version++ {
		path := t.TempDir() + "/machsym.db"
		oldDatabase(t, path, version)
		db, err := OpenSQLite(path, 0)
		must(t, err)
		want(t, db, "01", Done, "a result")
		isTallied(t, db)
		missing, err := db.Missing("default", 9)
		must(t, err)
		if len(missing) != 1 || missing[0] != (Want{uuid, "demo", 2}) {
			t.Fatal("schema", version, "waits for", missing)
		}
		for image, reports := range map[string]int64{other: 1, uuid: 2} {
			redone, err := db.Improve("an upload", []string{image})
			must(t, err)
			tasks, err := db.Take(9, hour)
			must(t, err)
			if redone != reports || int64(len(tasks)) != reports || bodyOf(t, tasks[0]) != "a report" {
				t.Fatal("schema", version, image, "has done again", redone, tasks)
			}
			for _, task := range tasks {
				uses := []Use{{uuid, "demo", false, false}}
				if task.Number == 1 {
					uses = append(uses, Use{other, "other", false, false})
				}
				must(t, db.Finish(task, Result{Answer: []byte("again"), Images: uses, Generation: task.Generation}))
			}
		}
		want(t, db, "01", Done, "again")
		for _, id := range []string{"01", "02"} {
			found, err := db.Delete(of("default"), id)
			if must(t, err); !found {
				t.Fatal("schema", version, id, "is not there")
			}
		}
		if redone, err := db.Improve("an upload", []string{uuid, other}); err != nil || redone != 0 {
			t.Fatal("schema", version, "does deleted reports again", redone, err)
		}
		isNamed(t, db, "0123456789abcdef", "01234567")
		must(t, db.Close())
	}
}

// isNamed says whether a token of before has a name, and what is done with it is in the audit.
func isNamed(t *testing.T, db Database, hash, name string) {
	t.Helper()
	token, err := db.FindToken(hash)
	if must(t, err); token == nil || *token != (Token{"admin", "default", name}) {
		t.Fatal("the token is", token)
	}
	must(t, db.Record(Caller{token.Project, token.Name, "::1"}, didRead, "01"))
	if told := newest(t, db, "default", 1); len(told) != 1 || told[0].Token != name {
		t.Fatal("the audit is", told)
	}
}
