package main

import (
	"bytes"
	"sync"
)

// near has reports that were just added, in memory, with their leases. Workers take them from here while no other report
// waits in the database: so they are neither read nor unpacked again.
type near struct {
	lock     sync.Mutex
	places   int // for reports, of all projects together
	used     int
	bytes    int
	projects map[string]*nearProject
	turns    []string      // projects with reports here, the next one first
	ready    chan struct{} // one for each report here
}

type nearProject struct {
	used  int    // places
	tasks []Task // that no worker has yet
}

// Places of each worker. What they hold is done in a fraction of a second, or is given back when their lease ends.
const nearOfWorker = 128

// Bytes of all reports that have a place.
const nearBytes = 16 << 20

func newNear(workers int) *near {
	places := workers * nearOfWorker
	return &near{places: places, projects: map[string]*nearProject{}, ready: make(chan struct{}, places)}
}

// reserve takes a place for a report. A project may have as many as are free, so that others find some, too.
func (n *near) reserve(project string, size int) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	of := n.projects[project]
	if of == nil {
		of = &nearProject{}
	}
	if of.used >= n.places-n.used || n.bytes+size > nearBytes {
		return false
	}
	n.projects[project] = of
	of.used, n.used, n.bytes = of.used+1, n.used+1, n.bytes+size
	return true
}

// free gives a place back. The lock is held.
func (n *near) free(project string, size int) {
	of := n.projects[project]
	of.used, n.used, n.bytes = of.used-1, n.used-1, n.bytes-size
	if of.used == 0 {
		delete(n.projects, project)
	}
}

// giveUp gives a place back that is not needed.
func (n *near) giveUp(project string, size int) {
	n.lock.Lock()
	n.free(project, size)
	n.lock.Unlock()
}

// put gives a report that has a place to the workers.
func (n *near) put(t Task) {
	n.lock.Lock()
	of := n.projects[t.Project]
	if len(of.tasks) == 0 {
		n.turns = append(n.turns, t.Project)
	}
	of.tasks = append(of.tasks, t)
	n.lock.Unlock()
	n.ready <- struct{}{}
}

// next returns the next report after a receive from ready. Projects take turns.
func (n *near) next() Task {
	n.lock.Lock()
	defer n.lock.Unlock()
	project := n.turns[0]
	n.turns = append(n.turns[:0], n.turns[1:]...)
	of := n.projects[project]
	t := of.tasks[0]
	of.tasks[0] = Task{}
	of.tasks = of.tasks[1:]
	if len(of.tasks) > 0 {
		n.turns = append(n.turns, project)
	}
	n.free(project, t.Whole.Len())
	return t
}

// done gives the buffer of a report to others.
func (t Task) done() {
	if t.Whole != nil {
		giveBuffer(t.Whole)
	}
}

// Add keeps a report. A new one is given to the workers, with its buffer; then kept is true, and the caller may not use it.
func (p *pool) Add(by Caller, id string, body *bytes.Buffer) (added, kept bool, err error) {
	size := body.Len()
	if p.waits.Load() || p.isEnding() || !p.near.reserve(by.Project, size) {
		added, err = p.db.Add(by, id, body.Bytes())
		if added {
			p.Wake()
		}
		return added, false, err
	}
	before := p.latest()
	task, err := p.db.AddLeased(by, id, body.Bytes(), p.lease())
	if task == nil {
		p.near.giveUp(by.Project, size)
		return false, false, err
	}
	task.BeginBefore, task.Whole = before, body
	p.near.put(*task)
	return true, true, nil
}
