package main

import (
	"errors"
	"time"
)

// State says how far a report is.
type State int

const (
	Waiting State = iota // for a worker
	Leased               // a worker has it until its lease ends
	Done                 // it has a result
	Failed               // it has none: the reason says why, and a retry may be asked for
)

func (s State) String() string { return [...]string{"waiting", "working", "done", "failed"}[s] }

// Task is a report that a worker was given.
type Task struct {
	Number     int64 // of the report in the database
	Lease      int64 // only who knows it may finish the report
	Generation int64 // of the symbols that were there when the report was taken
	Project    string
	Redact     bool // as the project wants it
	Body       []byte
}

// Use is one image that frames of a report lie in.
type Use struct {
	UUID, Name string
	Missing    bool // the report waits for debug info of this image
}

// Result is what a worker answered of a report.
type Result struct {
	Answer     []byte // compressed: see answer.go
	Group      string // hash of the signature; empty when there is none
	Title      string // of the group: the signature
	Images     []Use
	Generation int64 // of the symbols that the worker had
}

// Report is what the server tells of a report.
type Report struct {
	ID, Reason string
	State      State
	Deaths     int
	Received   time.Time
	Body       []byte // compressed
	Answer     []byte // as in Result; nil before the first one
}

// Group is all reports of one signature.
type Group struct {
	Hash  string    `json:"hash"`
	Title string    `json:"title"`
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Want is an image that reports wait for.
type Want struct {
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Reports int    `json:"reports"`
}

// Token is what a caller may do. Its secret is not kept, only the hash of it.
type Token struct{ Role, Project string }

// Settings are those of a project; zero: no limit, and nothing redacted.
type Settings struct {
	KeepDays int  `json:"keep_days"` // reports that are older are deleted
	Quota    int  `json:"quota"`     // new reports a day, in UTC
	Redact   bool `json:"redact"`    // results lack what --redact of machsym takes out
}

// ErrQuota says that a project had its reports of today.
var ErrQuota = errors.New("this project has had all its reports of today")

// Counts is how much there is, over all projects.
type Counts struct {
	States [4]int
	Oldest time.Duration // age of the oldest report that waits or is worked on
}

// Database is all that the server asks of its database. Every method that changes something returns after its commit.
type Database interface {
	Add(project, id string, body []byte) (added bool, err error)
	Take(count int, lease time.Duration) ([]Task, error)
	Release() error
	Finish(t Task, r Result) error
	Fail(t Task, reason string, final bool, deaths int) (dead bool, err error)
	Retry(project, id string) (found bool, err error)
	Delete(project, id string) (found bool, err error)
	Expire() (deleted int64, err error) // by KeepDays

	Set(project string, s Settings) error
	Settings(project string) (Settings, error)

	Get(project, id string) (*Report, error)
	List(project string, state State, limit int) ([]Report, error)
	Groups(project string, limit int) ([]Group, error)
	Missing(project string, limit int) ([]Want, error)
	Counts() (Counts, error)

	Improve(upload string, uuids []string) (redone int64, err error)
	BeginUpload(name string) error
	Uploads() ([]string, error)
	Generation() (int64, error)

	AddToken(hash string, t Token) error
	FindToken(hash string) (*Token, error)
	HasTokens() (bool, error)
	Close() error
}
