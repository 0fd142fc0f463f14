package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A project may have as many places as are free, and projects take turns. A place is free again when a worker has the report.
func TestNearPlaces(t *testing.T) {
	n := &near{places: 8, projects: map[string]*nearProject{}, ready: make(chan struct{}, 8)}
	put := func(project, body string) bool {
		if !n.reserve(project, len(body)) {
			return false
		}
		n.put(Task{Project: project, Whole: bytes.NewBufferString(body)})
		return true
	}
	for i, wanted := range []bool{true, true, true, true, false} {
		if put("flood", "f"+string(rune('0'+i))) != wanted {
			t.Fatal("place", i, "of one project")
		}
	}
	if !put("calm", "c0") || !put("calm", "c1") || put("calm", "c2") {
		t.Fatal("another project has not half of what is left")
	}
	if n.reserve("large", nearBytes) {
		t.Fatal("too many bytes have a place")
	}
	took := ""
	for len(n.ready) > 0 {
		<-n.ready
		took += n.next().Whole.String() + " "
	}
	if took != "f0 c0 f1 c1 f2 f3 " {
		t.Fatal("they are taken as", took)
	}
	if n.used != 0 || n.bytes != 0 || len(n.projects) != 0 || len(n.turns) != 0 {
		t.Fatal("a place is not free again", n)
	}
	if !n.reserve("large", nearBytes) {
		t.Fatal("there is no place for many bytes")
	}
	n.giveUp("large", nearBytes)
	if n.used != 0 || n.bytes != 0 {
		t.Fatal("a place that was given up is not free", n)
	}
}

// echoing is a worker that answers each line.
const echoing = `#!/bin/sh
while read -r line; do echo "{\"reports\":[{\"brief\":{},\"hash\":\"h\",\"signature\":\"s\"}]}"; done
`

func echoPool(t *testing.T, db Database, script string) *pool {
	data := t.TempDir()
	must(t, os.WriteFile(data+"/machsym", []byte(script), 0o700))
	return newPool(db, Tool{Path: data + "/machsym", Data: data, Limits: Limits{Seconds: 5, Megabytes: 1024}}, 1, newMetrics(db), logger{io.Discard, new(sync.Mutex)})
}

// addNear gives a report to a pool.
func addNear(t *testing.T, p *pool, project, body string) (id string, added, kept bool) {
	id = hashOf([]byte(body))
	added, kept, err := p.Add(of(project), id, bytes.NewBufferString(body))
	must(t, err)
	return id, added, kept
}

// A new report goes to a worker by its own commit: the pool never takes it from the database. The same one again is not
// new, and one that comes while others wait in the database waits, too.
func testNearReports(t *testing.T, db Database) {
	p := echoPool(t, db, echoing)
	if _, added, kept := addNear(t, p, "default", "first"); !added || !kept {
		t.Fatal("it waits in the database:", added, kept)
	}
	if _, added, kept := addNear(t, p, "default", "first"); added || kept || p.near.used != 1 {
		t.Fatal("it is new again:", added, kept, p.near.used)
	}
	id := hashOf([]byte("first"))
	want(t, db, id, Leased, "")
	if tasks, err := db.Take(9, hour); err != nil || len(tasks) != 0 {
		t.Fatal("somebody else takes it", tasks, err)
	}
	<-p.near.ready
	task := p.near.next()
	if task.Number == 0 || task.Lease == 0 || task.Project != "default" || task.Whole.String() != "first" || !task.BeginBefore.After(time.Now()) {
		t.Fatalf("the task is %+v", task)
	}
	must(t, db.Finish(task, Result{Answer: []byte("a"), Group: "g", Title: "t"}))
	want(t, db, id, Done, "a")
	p.Wake()
	if id, added, kept := addNear(t, p, "default", "second"); !added || kept {
		t.Fatal("it goes before others that wait:", added, kept)
	} else {
		want(t, db, id, Waiting, "")
	}
	for p.takeBatch(context.Background()) { // until none waits
	}
	if _, added, kept := addNear(t, p, "default", "third"); !added || !kept {
		t.Fatal("none waits, and it waits in the database")
	}
	must(t, db.Release())
	want(t, db, hashOf([]byte("third")), Waiting, "")
}

// What a project's settings and the symbols are goes with the task: its result is redacted, and done again if symbols come.
func testNearSettings(t *testing.T, db Database) {
	must(t, db.Set(of("default"), Settings{Redact: true, Quota: 1}))
	_, err := db.Improve("some", []string{uuid})
	must(t, err)
	generation, err := db.Generation()
	must(t, err)
	task, err := db.AddLeased(of("default"), hashOf([]byte("x")), []byte("x"), hour)
	must(t, err)
	if !task.Redact || task.Generation != generation {
		t.Fatalf("the task is %+v", task)
	}
	if task, err := db.AddLeased(of("default"), hashOf([]byte("y")), []byte("y"), hour); err != ErrQuota || task != nil {
		t.Fatal("it is over the quota:", task, err)
	}
	must(t, db.Set(of("default"), Settings{})) // redaction changes: the result of before does not count
	must(t, db.Finish(*task, Result{Answer: []byte("redacted")}))
	want(t, db, hashOf([]byte("x")), Waiting, "")
}

// All reports that a pool gets while it runs have a result, whatever way they take, and none is taken twice.
func TestNearRun(t *testing.T) {
	db := openSQLite(t)
	p := echoPool(t, db, echoing)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	var all sync.WaitGroup
	const senders, reports = 16, 40
	for i := 0; i < senders; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for j := 0; j < reports; j++ {
				body := strings.Repeat("x", i) + strings.Repeat("y", j)
				if p.Add(of("default"), hashOf([]byte(body)), bytes.NewBufferString(body)); j%10 == 0 {
					p.Wake()
				}
			}
		}(i)
	}
	all.Wait()
	var counts Counts
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && counts.States[Done] < senders*reports; time.Sleep(10 * time.Millisecond) {
		var err error
		counts, err = db.Counts()
		must(t, err)
	}
	stop()
	<-ended
	if counts.States != [4]int{0, 0, senders * reports, 0} {
		t.Fatal("reports are", counts.States)
	}
	if p.near.used != 0 {
		t.Fatal("places are not free again:", p.near.used)
	}
}
