package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

// brittle is a database that fails the first times that it is told of a failure, and never knows its generation.
type brittle struct {
	Database
	errors int // that are still to come
}

func (b *brittle) Generation() (int64, error) { return 0, errors.New("disk I/O error") }

func (b *brittle) Fail(t Task, reason string, final bool, deaths int) (bool, error) {
	if b.errors > 0 {
		b.errors--
		return false, errors.New("disk I/O error")
	}
	return b.Database.Fail(t, reason, final, deaths)
}

// A failure that the database cannot keep at first is told again. Otherwise the report would wait for the end of its lease.
func TestFailureToldAgain(t *testing.T) {
	db := &brittle{Database: open(t), errors: 2}
	id := add(t, db, "a report")
	tool := Tool{Path: "/bin/false", Data: t.TempDir(), Limits: Limits{Seconds: 5, Megabytes: 1024}} // a worker that ends at once
	p := newPool(db, tool, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if r, err := db.Get("default", id); err == nil && r.State == Failed {
			break
		}
	}
	stop()
	<-ended
	want(t, db, id, Failed, "")
	if db.errors != 0 {
		t.Fatal("the database was not asked")
	}
}
