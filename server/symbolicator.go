package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Symbolicator's API, as its public documentation and tests have it: POST /symbolicate and /applecrashreport,
// GET /requests/ID and /healthcheck. stacks.go looks the frames up.

// What a request may have at most.
const (
	mostModules = 10000
	mostFrames  = 100000
)

// Seconds of timeout= at most, and what a client is told to wait.
const (
	longestTimeout = 600
	retryAfter     = 1
)

// Answers that are kept until their clients ask.
const (
	mostJobs     = 1000
	mostRunning  = 64
	mostJobBytes = 64 << 20
	jobStays     = 5 * time.Minute
)

// job is a request whose answer may come after its timeout.
type job struct {
	project string
	done    chan struct{} // closed when body or err is set
	body    []byte
	err     error
	ended   time.Time
}

// jobs has requests by their id.
type jobs struct {
	lock    sync.Mutex
	byID    map[string]*job
	order   []string // ids, the oldest first
	running int
	bytes   int
}

var errBusy = errors.New("too many requests are being worked on: try again later")

// begin runs a request in its own goroutine.
func (j *jobs) begin(project string, do func() ([]byte, error)) (string, *job, error) {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return "", nil, err
	}
	name := hex.EncodeToString(id)
	one := &job{project: project, done: make(chan struct{})}
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.running >= mostRunning {
		return "", nil, errBusy
	}
	if j.byID == nil {
		j.byID = map[string]*job{}
	}
	j.running++
	j.byID[name] = one
	j.order = append(j.order, name)
	j.forget()
	go j.run(one, do)
	return name, one, nil
}

func (j *jobs) run(one *job, do func() ([]byte, error)) {
	body, err := do()
	j.lock.Lock()
	defer j.lock.Unlock()
	one.body, one.err, one.ended = body, err, time.Now()
	j.running--
	j.bytes += len(body)
	j.forget()
	close(one.done)
}

// forget drops answers that are old, and the oldest ones while there are too many. Requests in work stay.
func (j *jobs) forget() {
	kept := j.order[:0]
	count := len(j.order)
	for _, name := range j.order {
		one := j.byID[name]
		if one == nil {
			count--
			continue
		}
		isOld := !one.ended.IsZero() && (time.Since(one.ended) > jobStays || count > mostJobs || j.bytes > mostJobBytes && count > 1)
		if isOld {
			j.drop(name)
			count--
			continue
		}
		kept = append(kept, name)
	}
	j.order = kept
}

func (j *jobs) drop(name string) {
	if one := j.byID[name]; one != nil {
		j.bytes -= len(one.body)
		delete(j.byID, name)
	}
}

// find returns nil for a request of another project, too.
func (j *jobs) find(project, name string) *job {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.forget()
	if one := j.byID[name]; one != nil && one.project == project {
		return one
	}
	return nil
}

// delivered is called when a client has waited for the answer itself: no other comes for it.
func (j *jobs) delivered(name string) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.drop(name)
}

// timeoutOf reads timeout= in seconds. Without one a client waits for the answer.
func timeoutOf(r *http.Request) (wait time.Duration, limited bool, err error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return 0, false, nil
	}
	seconds, err := strconv.ParseUint(text, 10, 32)
	if err != nil || seconds > longestTimeout {
		return 0, false, fmt.Errorf("timeout= is a number of seconds, %d at most", longestTimeout)
	}
	return time.Duration(seconds) * time.Second, true, nil
}

// answerJob sends the answer, or after the timeout the id to ask for later.
func (s *server) answerJob(w http.ResponseWriter, r *http.Request, name string, one *job, wait time.Duration, limited, first bool) {
	late := (<-chan time.Time)(nil)
	if limited {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-one.done:
	case <-r.Context().Done():
		return
	case <-late:
		tell200(w, map[string]any{"status": "pending", "request_id": name, "retry_after": retryAfter})
		return
	}
	if first {
		defer s.jobs.delivered(name)
	}
	var told *answerError
	switch {
	case errors.As(one.err, &told) && told.final():
		tell200(w, map[string]any{"status": "failed", "message": told.What})
	case one.err != nil:
		s.broken(w, one.err)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(one.body)
	}
}

// runJob begins a request and waits for it as long as its caller does.
func (s *server) runJob(w http.ResponseWriter, r *http.Request, t *Token, do func() (*symbolicated, error)) {
	wait, limited, err := timeoutOf(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	name, one, err := s.jobs.begin(t.Project, func() ([]byte, error) {
		result, err := do()
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	})
	if err != nil {
		s.broken(w, err)
		return
	}
	s.answerJob(w, r, name, one, wait, limited, true)
}

// symbolicateStacks is POST /symbolicate.
func (s *server) symbolicateStacks(w http.ResponseWriter, r *http.Request, t *Token) {
	body, status, err := s.readReport(w, r, new(bytes.Buffer))
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	asked, err := readStacks(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.runJob(w, r, t, func() (*symbolicated, error) { return s.lookUp(t.Project, asked) })
}

// symbolicateReport is POST /applecrashreport.
func (s *server) symbolicateReport(w http.ResponseWriter, r *http.Request, t *Token) {
	body, status, err := s.readReport(w, r, new(bytes.Buffer))
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	report, how, err := readForm(r.Header.Get("Content-Type"), body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.runJob(w, r, t, func() (*symbolicated, error) {
		asked, about, err := s.stacksOf(t.Project, report)
		if err != nil {
			return nil, err
		}
		asked.Options = how
		result, err := s.lookUp(t.Project, asked)
		if err == nil {
			result.aboutReport = about
		}
		return result, err
	})
}

// readForm takes the report and the options from a multipart body.
func readForm(kind string, body []byte) (report []byte, how stacksOptions, err error) {
	media, words, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" || words["boundary"] == "" {
		return nil, how, errors.New("send multipart/form-data with a part apple_crash_report")
	}
	form := multipart.NewReader(bytes.NewReader(body), words["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, how, fmt.Errorf("the form is cut short, or damaged: %w", err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, how, fmt.Errorf("the form is cut short, or damaged: %w", err)
		}
		switch part.FormName() {
		case "apple_crash_report":
			if report != nil {
				return nil, how, errors.New("two parts are named apple_crash_report")
			}
			report = value
		case "sources":
			err = json.Unmarshal(value, new([]json.RawMessage))
		case "options":
			err = json.Unmarshal(value, &how)
		}
		if err != nil {
			return nil, how, fmt.Errorf("%s: %w", part.FormName(), err)
		}
	}
	if len(report) == 0 {
		return nil, how, errors.New("the part apple_crash_report is missing, or empty")
	}
	return report, how, nil
}

// request is GET /requests/ID.
func (s *server) request(w http.ResponseWriter, r *http.Request, t *Token) {
	name := strings.TrimPrefix(r.URL.Path, "/requests/")
	wait, limited, err := timeoutOf(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	one := s.jobs.find(t.Project, name)
	if one == nil {
		refuse(w, http.StatusNotFound, "no request has this id, or its answer is no longer kept: send the request again")
		return
	}
	connOf(r).SetReadDeadline(time.Time{}) // the work may take longer than headers may
	s.answerJob(w, r, name, one, wait, limited, false)
}

// healthcheck is "ok" while the server can answer. /health also says whether reports wait too long.
func (s *server) healthcheck(w http.ResponseWriter, r *http.Request) {
	if r.Method != "GET" && r.Method != "HEAD" {
		refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
		return
	}
	if _, err := s.db.Generation(); err != nil {
		s.broken(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "ok")
}

// askInto sends a request to a worker while the caller waits, and reads the members of its answer.
func (s *server) askInto(project string, request map[string]any, into any) error {
	set, err := s.db.Settings(project)
	if err != nil {
		return err
	}
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var failed struct{ Error *answerError }
	err = s.askWorker(append(line, '\n'), set.Redact, func(said []byte) error {
		if err := json.Unmarshal(said, &failed); err != nil {
			return err
		}
		return json.Unmarshal(said, into)
	})
	if err == nil && failed.Error != nil {
		err = failed.Error
	}
	return err
}
