package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// brittle is a database that does not accept the first failures, and does not know its generation.
type brittle struct {
	Database
	errors int // errors that are still to come
}

func (b *brittle) Generation() (int64, error) { return 0, errors.New("disk I/O error") }

func (b *brittle) Fail(t Task, reason string, final bool, deaths int) (bool, error) {
	if b.errors > 0 {
		b.errors--
		return false, errors.New("disk I/O error")
	}
	return b.Database.Fail(t, reason, final, deaths)
}

// failedOf says how many workers a report ends if the script is its worker, and returns the last reason.
func failedOf(t *testing.T, script string, pause time.Duration) (deaths int, reason string) {
	db := openSQLite(t)
	id := add(t, db, "a report")
	data := t.TempDir()
	must(t, os.WriteFile(data+"/machsym", []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	runUntilFailed(db, Tool{Path: data + "/machsym", Data: data, Limits: Limits{Seconds: 1, Megabytes: 1024}}, id, pause)
	r, err := db.Get("default", id)
	must(t, err)
	if r.State != Failed {
		t.Fatal(script, "is tried without an end", r.Deaths)
	}
	return r.Deaths, r.Reason
}

// A killed worker does not make its report fail at once. A worker that ends by itself does, and its output is
// not an answer.
func TestDeaths(t *testing.T) {
	for script, wanted := range map[string]struct {
		deaths int
		reason error
	}{
		"read line; kill -9 $$": {killsAllowed, errKilled}, "kill -9 $$": {killsAllowed, errKilled},
		"read line; kill -11 $$": {deathsAllowed, errEnded}, "exit 0": {deathsAllowed, errEnded}, "exec sleep 100": {deathsAllowed, errDeadline},
		"read line; echo no JSON; read line": {deathsAllowed, errAnswer},
	} {
		script, wanted := script, wanted
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			pause := time.Minute // it is not waited for after other deaths
			if wanted.reason == errKilled {
				pause = 10 * time.Millisecond
			}
			deaths, reason := failedOf(t, script, pause)
			if deaths != wanted.deaths || reason != wanted.reason.Error() {
				t.Errorf("%d deaths, %s", deaths, reason)
			}
		})
	}
}

func runUntilFailed(db Database, tool Tool, id string, pause time.Duration) {
	p := newPool(db, tool, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})
	p.pause = pause
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if r, err := db.Get("default", id); err == nil && r.State == Failed {
			break
		}
	}
	stop()
	<-ended
}

// A failure is told to the database again if the database could not store it. Otherwise the report would wait
// for the end of its lease.
func TestFailureToldAgain(t *testing.T) {
	db := &brittle{Database: openSQLite(t), errors: 2}
	id := add(t, db, "a report")
	tool := Tool{Path: "/bin/false", Data: t.TempDir(), Limits: Limits{Seconds: 5, Megabytes: 1024}} // a worker that ends at once
	runUntilFailed(db, tool, id, time.Minute)
	want(t, db, id, Failed, "")
	if db.errors != 0 {
		t.Fatal("the database was not asked")
	}
}

// A report whose turn comes so late that its lease could end during the work is left to the next one who takes it. So are
// those of a server that ends.
func TestTurnTooLate(t *testing.T) {
	for what, set := range map[string]func(*pool, *Task){
		"late":    func(_ *pool, late *Task) { late.BeginBefore = time.Now().Add(-time.Millisecond) },
		"ending":  func(p *pool, _ *Task) { close(p.ending) },
		"in time": func(*pool, *Task) {},
	} {
		db := openSQLite(t)
		id := add(t, db, "a report")
		p := newPool(db, Tool{Path: "/bin/false", Data: t.TempDir(), Limits: Limits{Seconds: 5, Megabytes: 1024}}, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})
		late := take(t, db, hour)
		late.BeginBefore = time.Now().Add(time.Hour)
		set(p, &late)
		p.tasks <- late
		close(p.tasks)
		p.work()
		for i := 0; i < finishTogether; i++ {
			p.finishing <- struct{}{}
		}
		r, err := db.Get("default", id)
		must(t, err)
		if (r.Deaths > 0) != (what == "in time") {
			t.Error(what, "has begun:", r.Deaths)
		}
	}
}
