package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits of one child process.
type Limits struct {
	Seconds, Megabytes int
}

// Tool says how to start the program machsym.
type Tool struct {
	Path   string
	Data   string // the server's folder: the store is in it, and what machsym remembers
	Limits Limits
	Log    logger // of workers' messages; without one they are dropped
}

// command is a child with its own process group and a memory limit. It ends with the server.
func (t Tool) command(words ...string) *exec.Cmd {
	kilobytes := strconv.Itoa(t.Limits.Megabytes * 1024)
	c := exec.Command("sh", append([]string{"-c", `ulimit -c 0; ulimit -v "$0" || exit 126; exec "$@"`, kilobytes, t.Path}, words...)...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.Data+"/cache")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

var isVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\n$`)

// Try runs the program once within its limits. If it fails, every report would fail, one after another.
func (t Tool) Try() error {
	said, err := t.command("--version").CombinedOutput()
	if err == nil && !isVersion.Match(said) {
		err = errors.New("it is another program")
	}
	if err == nil {
		said = nil
		err = t.tryWorker()
	}
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w: %s; name the program machsym with --machsym", t.Path, err, strings.TrimSpace(string(said)))
	}
	return nil
}

// tryWorker asks for the forms that the server needs, of what is no report.
func (t Tool) tryWorker() error {
	c := t.command("worker", "-j", "1")
	c.Stdin = bytes.NewReader(crashRequest(new(bytes.Buffer), []byte("x"), append([]string{"stacks"}, kept...)...))
	line, _ := c.Output() // the status is 1, because the answer is an error
	var answered outcome
	if err := answered.read(line); err != nil {
		return err
	}
	if answered.Error == nil || answered.Error.Kind != "no_report" {
		return errors.New("it is another version, without the requests of this server")
	}
	return nil
}

func (t Tool) store() string { return t.Data + "/store" }

// child is one `machsym worker`, which gets one request at a time.
type child struct {
	command    *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
	generation int64 // of the symbols that it has seen; it may have seen later ones
}

var (
	errDeadline = errors.New("no answer within the deadline")
	errEnded    = errors.New("the worker ended")
	errKilled   = errors.New("somebody killed the worker")
)

func (t Tool) start(generation int64, redact bool) (*child, error) {
	words := []string{"worker", "-d", t.store(), "-j", "1", "--limit=" + strconv.Itoa(t.Limits.Seconds)}
	if _, err := os.Stat(t.fetched()); err == nil {
		words = append(words, "-d", t.fetched())
	}
	if redact {
		words = append(words, "--redact")
	}
	c := t.command(words...)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if t.Log.to != nil {
		c.Stderr = &workerLog{log: t.Log}
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &child{c, in, bufio.NewReaderSize(out, 1<<16), generation}, nil
}

// kill ends the child and all processes that it started. It returns whether SIGKILL ended the child. If the
// child had ended before, another process sent that signal.
func (c *child) kill() bool {
	syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
	c.in.Close()
	c.command.Wait()
	status, ok := c.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// ask sends one request and reads a line, which holds until the next call. After an error the child is useless: kill it.
func (c *child) ask(request []byte, deadline time.Duration) ([]byte, error) {
	late := time.AfterFunc(deadline, func() { syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL) })
	line, err := c.exchange(request)
	if !late.Stop() && err != nil {
		return nil, errDeadline
	}
	return line, err
}

func (c *child) exchange(request []byte) ([]byte, error) {
	if _, err := c.in.Write(request); err != nil {
		return nil, errEnded
	}
	line, err := c.out.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		begin := append([]byte(nil), line...)
		line, err = c.out.ReadBytes('\n')
		line = append(begin, line...)
	}
	if err != nil {
		return nil, errEnded
	}
	return line, nil
}

// refresh makes the child look at the store again, if an upload came since the last time.
func (c *child) refresh(generation int64, deadline time.Duration) error {
	if c.generation >= generation {
		return nil
	}
	if _, err := c.ask([]byte(`{"do":"reload"}`+"\n"), deadline); err != nil {
		return err
	}
	c.generation = generation
	return nil
}

// Asker is a child that is started when needed, and again after its death.
type Asker struct {
	tool   Tool
	redact bool
	now    *child
}

// Ask sends a request, a whole line with what follows it, with symbols of a generation or later, and gives the answer to read. An error means that
// the child died, or was killed because read did not understand it. The line holds until the next request.
func (a *Asker) Ask(request []byte, generation int64, read func(line []byte) error) (err error) {
	deadline := time.Duration(a.tool.Limits.Seconds+1) * time.Second
	if a.now == nil {
		if a.now, err = a.tool.start(generation, a.redact); err != nil {
			return err
		}
	}
	var line []byte
	err = a.now.refresh(generation, deadline)
	if err == nil {
		line, err = a.now.ask(request, deadline)
	}
	if err == nil {
		err = read(line)
	}
	if err != nil && a.Stop() && err == errEnded {
		err = errKilled
	}
	return err
}

// Stop ends the child, and returns whether SIGKILL did. The next request starts a new one.
func (a *Asker) Stop() (killed bool) {
	if a.now != nil {
		killed = a.now.kill()
		a.now = nil
	}
	return killed
}

// Askers are two: one with redaction, one without.
type Askers [2]Asker

func newAskers(tool Tool) Askers { return Askers{{tool: tool}, {tool: tool, redact: true}} }

func (a *Askers) of(redact bool) *Asker {
	if redact {
		return &a[1]
	}
	return &a[0]
}

// Stop ends both.
func (a *Askers) Stop() {
	a[0].Stop()
	a[1].Stop()
}

// waiting are workers for callers that wait: as many at a time as the server may have. The one that was used last is used next, so
// that one caller at a time needs one worker, which has decoded what it asks for.
type waiting struct {
	turns chan struct{}
	tool  Tool
	lock  sync.Mutex
	free  []*Askers
}

func newWaiting(tool Tool, count int) *waiting {
	return &waiting{turns: make(chan struct{}, count), tool: tool}
}

// use lends workers to a caller, which waits if all are lent.
func (w *waiting) use(do func(*Askers) error) error {
	w.turns <- struct{}{}
	defer func() { <-w.turns }()
	one := w.take()
	defer w.give(one)
	return do(one)
}

func (w *waiting) take() *Askers {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.free) == 0 {
		made := newAskers(w.tool)
		return &made
	}
	one := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	return one
}

func (w *waiting) give(one *Askers) {
	w.lock.Lock()
	w.free = append(w.free, one)
	w.lock.Unlock()
}

// Stop ends those that are not lent.
func (w *waiting) Stop() {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, one := range w.free {
		one.Stop()
	}
	w.free = nil
}
