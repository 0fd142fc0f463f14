package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// forgetful is a database that does not accept the first messages about better symbols.
type forgetful struct {
	Database
	errors int // errors that are still to come
}

func (f *forgetful) Improve(upload string, uuids []string) (int64, error) {
	if f.errors > 0 {
		f.errors--
		return 0, errors.New("disk I/O error")
	}
	return f.Database.Improve(upload, uuids)
}

// The store has symbols, but the database could not be told. The store will not call them new again, so the
// server must repeat the message.
func TestImprovedLater(t *testing.T) {
	db := &forgetful{Database: openSQLite(t), errors: 2}
	id := add(t, db, "a report")
	work := take(t, db, hour)
	must(t, db.Finish(work, Result{Answer: []byte("old"), Images: []Use{{uuid, "demo", true, false}}, Generation: work.Generation}))
	data := t.TempDir()
	must(t, os.Mkdir(data+"/spool", 0o700))
	script := "#!/bin/sh\necho '{\"uuid\":\"" + uuid + "\",\"added\":true}'\n"
	must(t, os.WriteFile(data+"/machsym", []byte(script), 0o700))
	tool := Tool{Path: data + "/machsym", Data: data, Limits: Limits{Seconds: 5, Megabytes: 1024}}
	s := &symbols{db: db, tool: tool, pool: newPool(db, tool, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})}
	if _, err := s.Add(of("default"), strings.NewReader("a dSYM"), "demo"); err == nil {
		t.Fatal("the upload is reported as whole")
	}
	s.later.Wait()
	want(t, db, id, Waiting, "old")
	left, err := os.ReadDir(data + "/spool")
	must(t, err)
	if uploads, err := db.Uploads(); err != nil || len(uploads)+len(left) != 0 {
		t.Fatal("the upload is left", uploads, left, err)
	}
}

// The server stops while the database accepts nothing. The next start completes the upload.
func TestImprovedNever(t *testing.T) {
	db := &forgetful{Database: openSQLite(t), errors: 1 << 30}
	s := &symbols{db: db, pool: newPool(db, Tool{}, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})}
	s.improveLater("an upload", nil)
	close(s.pool.ending)
	ended := make(chan struct{})
	go func() { s.later.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}
