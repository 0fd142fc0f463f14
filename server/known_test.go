package main

import (
	"errors"
	"testing"
)

// What the writer remembers is what the tables have: after a change that failed, after a restart, on another day
// and when the quota changes.
func TestUsageIsRemembered(t *testing.T) {
	path := t.TempDir() + "/machsym.db"
	var db Database
	reopen := func() {
		t.Helper()
		if db != nil {
			must(t, db.Close())
		}
		var err error
		db, err = OpenSQLite(path, 0)
		must(t, err)
	}
	refused := func(body string) {
		t.Helper()
		if added, err := db.Add(of("default"), hashOf([]byte(body)), []byte(body)); added || !errors.Is(err, ErrQuota) {
			t.Fatal(body, added, err)
		}
	}
	reopen()
	must(t, db.Set(of("default"), Settings{Quota: 3}))
	add(t, db, "first")
	failed := errors.New("it fails")
	if err := db.(*sqlite).change(func(*statements) error { return failed }); err != failed {
		t.Fatal(err)
	}
	add(t, db, "second")
	reopen()
	add(t, db, "third")
	refused("fourth")
	reopen()
	refused("fourth")
	must(t, db.Set(of("default"), Settings{Quota: 4}))
	add(t, db, "fourth")
	refused("fifth")
	db.(*sqlite).shift = 24 * hour
	add(t, db, "fifth")
	must(t, db.Close())
}

// A token that is remembered is refused soon after it was deleted. One that is new is good at once.
func TestTokensAreRemembered(t *testing.T) {
	db := openSQLite(t)
	var k tokens
	find := func(there bool) {
		t.Helper()
		if found, err := k.find(db, "hash"); err != nil || (found != nil) != there {
			t.Fatal(found, err)
		}
	}
	find(false)
	must(t, db.AddToken(of("default"), "hash", Token{"read", "default", "phone"}))
	find(true)
	must(t, db.(*sqlite).change(func(tx *statements) error {
		_, err := tx.Exec("DELETE FROM token")
		return err
	}))
	find(true)
	k.since = k.since.Add(-2 * tokenAge)
	find(false)
}
