package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// A report fails after this many deaths of its workers. A worker may also have been killed for other reasons.
// When memory runs out, the system kills processes, so more deaths by SIGKILL are allowed, but not any
// number.
const (
	deathsAllowed = 3
	killsAllowed  = 10
)

func allowedOf(reason error) int {
	if errors.Is(reason, errKilled) {
		return killsAllowed
	}
	return deathsAllowed
}

// Reports are taken in batches of this many for each worker. A batch needs one commit, and another one waits meanwhile,
// so that workers need not wait for the disk.
const batchOfWorker = 24

// Results that wait for their commit. Enough to share a commit, and few enough for memory.
const finishTogether = 64

// pool gives waiting reports to workers.
type pool struct {
	db        Database
	tool      Tool
	workers   int
	wake      chan struct{} // there may be work
	waits     atomic.Bool   // a report may wait in the database
	tasks     chan Task
	near      *near
	ending    chan struct{} // closed when the server stops
	pause     time.Duration // until waiting reports are looked for without a wake
	finishing chan struct{} // results that wait for their commit
	stats     *metrics
	log       logger
}

func newPool(db Database, tool Tool, workers int, stats *metrics, log logger) *pool {
	return &pool{db: db, tool: tool, workers: workers, wake: make(chan struct{}, 1), tasks: make(chan Task, workers*batchOfWorker), near: newNear(workers),
		ending: make(chan struct{}), pause: time.Second, finishing: make(chan struct{}, finishTogether), stats: stats, log: log}
}

// Wake tells the pool that a report waits.
func (p *pool) Wake() {
	p.waits.Store(true)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// slowest is the most time that a report takes: the worker may have to look for new symbols before.
func (p *pool) slowest() time.Duration {
	return time.Duration(p.tool.Limits.Seconds+1) * 2 * time.Second
}

// lease is long enough for some reports that reach their time limit. If more come together, some leases end before
// their reports' turn.
func (p *pool) lease() time.Duration { return 9 * p.slowest() }

// latest is when work may begin at the latest of a lease that begins now.
func (p *pool) latest() time.Time { return time.Now().Add(p.lease() - p.slowest()) }

// Run works until the context ends, and then waits for running work.
func (p *pool) Run(ctx context.Context) {
	var all sync.WaitGroup
	for i := 0; i < p.workers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			p.work()
		}()
	}
	for ctx.Err() == nil {
		if !p.takeBatch(ctx) {
			p.rest(ctx)
		}
	}
	close(p.ending)
	close(p.tasks)
	all.Wait()
	for i := 0; i < finishTogether; i++ {
		p.finishing <- struct{}{} // all results have their commit
	}
}

// takeBatch gives a batch to the workers. False: no report was waiting.
func (p *pool) takeBatch(ctx context.Context) bool {
	end := p.latest()
	p.waits.Store(false) // a wake from now on is seen
	tasks, err := p.db.Take(p.workers*batchOfWorker, p.lease())
	if err != nil || len(tasks) > 0 {
		p.waits.Store(true)
	}
	if err != nil {
		p.log.say("error", "what", "no reports can be taken", "why", err.Error())
		time.Sleep(time.Second)
	}
	for _, t := range tasks {
		t.BeginBefore = end
		select {
		case p.tasks <- t:
		case <-ctx.Done():
			return true // their leases end with this program
		}
	}
	return len(tasks) > 0
}

// rest waits for a report or for the end of a lease.
func (p *pool) rest(ctx context.Context) {
	select {
	case <-p.wake:
	case <-ctx.Done():
	case <-time.After(p.pause):
	}
}

func (p *pool) isEnding() bool {
	select {
	case <-p.ending:
		return true
	default:
		return false
	}
}

// next waits for a report. False: the server ends.
func (p *pool) next() (t Task, ok bool) {
	select {
	case <-p.near.ready:
		return p.near.next(), true
	case t, ok = <-p.tasks:
		return t, ok
	}
}

func (p *pool) work() {
	askers := newAskers(p.tool)
	defer askers.Stop()
	space := space{seen: seenUses{}}
	for t, ok := p.next(); ok; t, ok = p.next() {
		begin := time.Now()
		if begin.After(t.BeginBefore) || p.isEnding() {
			continue // it is taken again
		}
		p.do(&askers, t, &space)
		p.stats.work.Observe(time.Since(begin).Seconds())
	}
}

// do asks the worker and keeps the answer. Symbols that came after the lease belong to a later generation: if
// the report uses them, it is done again.
func (p *pool) do(askers *Askers, t Task, space *space) {
	result, err := p.result(askers, t, space)
	t.done()
	if err != nil {
		p.fail(t, err)
		return
	}
	p.keep(t, func() error {
		err := p.db.Finish(t, result)
		if err == nil {
			p.stats.done.Inc()
		}
		return err
	})
}

// space is the memory for a report, for a request and for images, used again and again.
type space struct {
	body, request bytes.Buffer
	seen          seenUses
}

func (p *pool) result(askers *Askers, t Task, space *space) (Result, error) {
	said := outcome{seen: space.seen}
	var plain outcome
	body, err := t.report(&space.body)
	if err != nil {
		return Result{}, errDamaged
	}
	err = askers.of(t.Redact).Ask(crashRequest(&space.request, body, kept...), t.Generation, said.read)
	if err == nil && t.Redact && said.Error == nil { // that worker knows only what stands in place of people
		err = askers.of(false).Ask(crashRequest(&space.request, body, "people"), t.Generation, plain.read)
		said.Error = plain.Error
	}
	if err != nil {
		p.stats.deaths.Inc()
		return Result{}, err
	}
	if said.Error != nil {
		return Result{}, said.Error
	}
	result, err := resultOf(&said, t.Generation)
	if t.Redact {
		result.People = plain.people()
	}
	return result, err
}

// keep stores a result while the worker continues, so that several results share a commit. While the disk is
// full it waits, and so do the workers.
func (p *pool) keep(t Task, write func() error) {
	p.finishing <- struct{}{}
	go func() {
		defer func() { <-p.finishing }()
		for {
			err := write()
			if err == nil {
				return
			}
			p.log.say("error", "what", "a result cannot be kept yet", "report", t.Number, "why", err.Error())
			select {
			case <-p.ending:
				return // the report is done again after the next start
			case <-time.After(time.Second):
			}
		}
	}()
}

// fail counts a failure. A report fails at once if its error would recur.
func (p *pool) fail(t Task, reason error) {
	p.keep(t, func() error {
		dead, err := p.db.Fail(t, reason.Error(), isFinal(reason), allowedOf(reason))
		if err != nil {
			return err
		}
		p.log.say("warning", "what", "a report has no result", "report", t.Number, "project", t.Project, "why", reason.Error(), "given_up", dead)
		if dead {
			p.stats.failed.Inc()
		} else if !errors.Is(reason, errKilled) { // memory may have run out: then a pause helps
			p.Wake()
		}
		return nil
	})
}
