package main

import (
	"bytes"
	"errors"
	"time"
)

// State is the progress of a report.
type State int

const (
	Waiting State = iota // for a worker
	Leased               // by a worker, until the lease ends
	Done                 // it has a result
	Failed               // it has no result: the reason says why, and a retry is possible
)

func (s State) String() string { return [...]string{"waiting", "working", "done", "failed"}[s] }

// Task is a report that was given to a worker.
type Task struct {
	Number      int64 // number of the report in the database
	Lease       int64 // only the holder of this lease may finish the report
	Generation  int64 // of the symbols, when the report was taken
	Project     string
	Redact      bool          // setting of the project
	Again       bool          // it has images of an earlier result
	Body        []byte        // compressed
	BeginBefore time.Time     // work that begins later could outlast the lease
	Whole       *bytes.Buffer // the report as it was sent, in place of Body
}

// report returns the bytes that were sent. They may lie in a buffer.
func (t Task) report(buffer *bytes.Buffer) ([]byte, error) {
	if t.Whole != nil {
		return t.Whole.Bytes(), nil
	}
	return unpackInto(buffer, t.Body)
}

// Use is one image that contains frames of a report.
type Use struct {
	UUID, Name string
	Missing    bool // the report waits for debug info of this image
	Symbols    bool // the result has names of debug info of it
}

// Result is a worker's answer about a report.
type Result struct {
	Answer     []byte // compressed: see answer.go
	Group      string // hash of the signature; may be empty
	Title      string // of the group: the signature
	Images     []Use
	People     []string // values that name the report's user
	Generation int64    // of the symbols that the worker had
}

// Report is what the server tells callers about a report.
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

// Token holds the rights of a caller. Only the hash of its secret is kept. One of the role server has no project:
// it is an admin of all.
type Token struct{ Role, Project, Name string }

const roleServer = "server"

// ErrTaken says that another token of the project has the name.
var ErrTaken = errors.New("a token of this project has this name")

// Caller is who asks for something in a project. The audit keeps it.
type Caller struct{ Project, Token, Address string }

// Actions of the audit.
const (
	didSend     = "send"     // a report that is new
	didRead     = "read"     // a result
	didDelete   = "delete"   // a report
	didRetry    = "retry"    // a report
	didForget   = "forget"   // a user: the hash; a row of each deleted report follows
	didUpload   = "upload"   // symbols of an image, which were added or replaced
	didDownload = "download" // a file of symbols
	didSet      = "settings" // of the project
	didToken    = "token"    // a new one
	didRevoke   = "revoke"   // a token
	didAudit    = "audit"    // read it
)

// Event is a row of the audit. It is in the transaction of the change that it tells of.
type Event struct {
	Time    time.Time `json:"time"`
	Token   string    `json:"token"` // its name; empty: the command line
	Address string    `json:"address"`
	Action  string    `json:"action"`
	Object  string    `json:"object"`
	place   place
}

// place is where an event stands in the order of the audit.
type place struct{ time, number int64 } // milliseconds since 1970

// Span is the part of a project's audit that is asked for: the newest rows of it.
type Span struct {
	Project      string
	Since, Until int64 // milliseconds since 1970; Until is not in it
	Before       place
	Limit        int
}

// Settings are those of a project. Zero: no limit, and no redaction.
type Settings struct {
	KeepDays int  `json:"keep_days"` // older reports are deleted
	Quota    int  `json:"quota"`     // new reports a day, in UTC
	Redact   bool `json:"redact"`    // results lack what machsym's --redact removes
}

// Forgotten is what a deletion of a user's reports did.
type Forgotten struct {
	Deleted int64 `json:"deleted"`
	Waiting int64 `json:"waiting"` // reports without a result that knows its people: they are deleted when they get one
}

// ErrQuota says that a project has used up its quota for today.
var ErrQuota = errors.New("this project has had all its reports of today")

// Counts are totals over all projects.
type Counts struct {
	States [4]int
	Oldest time.Duration // age of the oldest report that waits or is in work
}

// Database is all that the server needs of its database. Every method that changes data returns after the
// commit.
type Database interface {
	Add(by Caller, id string, body []byte) (added bool, err error)
	// AddLeased adds a report that is in work at once, without its body in the task. Nil: it was there.
	AddLeased(by Caller, id string, body []byte, lease time.Duration) (*Task, error)
	Take(count int, lease time.Duration) ([]Task, error)
	Release() error     // ends the leases of this server
	OnWork(wake func()) // calls wake when another server has work
	Finish(t Task, r Result) error
	Fail(t Task, reason string, final bool, deaths int) (dead bool, err error)
	Retry(by Caller, id string) (found bool, err error)
	Delete(by Caller, id string) (found bool, err error)
	Expire() (deleted int64, err error) // uses KeepDays
	Forget(by Caller, user string) (Forgotten, error)

	Set(by Caller, s Settings) error
	Settings(project string) (Settings, error)

	Get(project, id string) (*Report, error)
	List(project string, state State, limit int) ([]Report, error)
	Grouped(project, group string, limit int) ([]Report, error)
	Groups(project string, limit int) ([]Group, error)
	Missing(project string, limit int) ([]Want, error)
	Counts() (Counts, error)

	Improve(upload string, uuids []string) (redone int64, err error)
	BeginUpload(by Caller, name string) error
	Uploads() ([]string, error)
	Generation() (int64, error)

	AddToken(by Caller, hash string, t Token) error
	FindToken(hash string) (*Token, error)
	Tokens(project string) ([]Token, error)
	DeleteToken(by Caller, name string) (found bool, err error)
	HasTokens() (bool, error)
	Record(by Caller, action, object string) error // of what changes nothing
	Audit(of Span) ([]Event, error)
	ExpireAudit(days int) (deleted int64, err error)

	Close() error
}
