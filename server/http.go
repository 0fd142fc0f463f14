package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the API description
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/minio/sha256-simd"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// server is the HTTP server, with its limits.
type server struct {
	db        Database
	symbols   *symbols
	parts     *parts
	pool      *pool
	stats     *metrics
	log       logger
	maxReport int64         // bytes of a report, unpacked
	maxUpload int64         // bytes of a file of symbols
	maxAge    time.Duration // of the oldest waiting report; if it is older, health is false
	slow      time.Duration // a client that sends or takes nothing for this long is cut off
	proxy     string        // whose X-Forwarded-For is believed
	profilers string        // origin whose pages may ask like profilers, without a token; empty: only with one
	tokens    tokens
	askers    *waiting // for callers that wait
	jobs      jobs     // of Symbolicator's API
	fetch     *fetcher // nil without sources
}

// handler answers an authorized request.
type handler func(s *server, w http.ResponseWriter, r *http.Request, t *Token)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/health", s.health)
	mux.Handle("/metrics", s.allow("GET", "read", metricsOf))
	mux.Handle("/reports", s.byMethod(map[string]http.Handler{
		"POST": s.allow("POST", "send", (*server).post), "GET": s.allow("GET", "read", (*server).list),
		"DELETE": s.allow("DELETE", "admin", (*server).forget)}))
	mux.Handle("/reports/", s.byMethod(map[string]http.Handler{
		"GET": s.allow("GET", "read", (*server).get), "DELETE": s.allow("DELETE", "admin", (*server).remove),
		"POST": s.allow("POST", "admin", (*server).retry)}))
	mux.Handle("/groups", s.allow("GET", "read", (*server).groups))
	mux.Handle("/audit", s.allow("GET", "admin", (*server).audit))
	mux.Handle("/missing", s.allow("GET", "read", (*server).missing))
	mux.Handle("/project", s.byMethod(map[string]http.Handler{
		"GET": s.allow("GET", "read", (*server).settings), "PUT": s.allow("PUT", "admin", (*server).set)}))
	mux.Handle("/tokens", s.byMethod(map[string]http.Handler{
		"GET": s.allow("GET", "admin", (*server).listTokens), "POST": s.allow("POST", "admin", (*server).addToken)}))
	mux.Handle("/tokens/", s.allow("DELETE", "admin", (*server).deleteToken))
	mux.Handle("/parts/", s.byMethod(map[string]http.Handler{
		"GET": s.allow("GET", "upload", (*server).hasPart), "PUT": s.allow("PUT", "upload", (*server).putPart)}))
	mux.Handle("/parts", s.allow("POST", "upload", (*server).joinParts))
	mux.Handle("/symbols/", s.allow("GET", "read", (*server).symbol))
	mux.Handle("/symbols", s.allow("POST", "upload", (*server).upload))
	mux.Handle("/symbolicate/v5", s.allowProfilers((*server).symbolicate))
	mux.Handle("/source/v1", s.allowProfilers(notHere("there are no sources here: dSYMs have only their paths")))
	mux.Handle("/asm/v1", s.allowProfilers(notHere("machsym has no disassembler: profilers on the machine itself have one")))
	mux.Handle("/symbolicate", s.allow("POST", "read", (*server).symbolicateStacks))
	mux.Handle("/applecrashreport", s.allow("POST", "read", (*server).symbolicateReport))
	mux.Handle("/requests/", s.allow("GET", "read", (*server).request))
	mux.HandleFunc("/healthcheck", s.healthcheck)
	mux.HandleFunc("/openapi.json", describe)
	mux.HandleFunc("/", s.page)
	return s.logged(mux)
}

func noPath(w http.ResponseWriter) { refuse(w, http.StatusNotFound, "no such path") }

func (s *server) byMethod(of map[string]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := of[r.Method]; ok {
			h.ServeHTTP(w, r)
			return
		}
		refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
	})
}

// allow permits a method for a token of the role, or of an admin.
func (s *server) allow(method, role string, do handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
			return
		}
		secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		t, err := s.tokens.find(s.db, hashOf([]byte(secret)))
		switch {
		case err != nil:
			s.broken(w, err)
		case t == nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "send Authorization: Bearer TOKEN")
		case t.Role != role && t.Role != "admin" && t.Role != roleServer:
			refuse(w, http.StatusForbidden, "this token may "+t.Role+"; this takes one that may "+role)
		default:
			if t, err = t.inProject(r.URL.Query()); err != nil {
				refuse(w, http.StatusForbidden, err.Error())
				return
			}
			do(s, w, r, t)
		}
	})
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data) // that of Debian's Go takes five times as long
	return hex.EncodeToString(sum[:])
}

// taken answers that a report is kept.
type taken struct {
	ID  string `json:"id"`
	New bool   `json:"new"`
}

// post takes a report. The report is on the disk before the answer is sent.
func (s *server) post(w http.ResponseWriter, r *http.Request, t *Token) {
	begin := time.Now()
	buffer, kept := buffers.Get().(*bytes.Buffer), false
	defer func() {
		if !kept {
			giveBuffer(buffer)
		}
	}()
	body, status, err := s.readReport(w, r, buffer)
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	id := hashOf(body)
	var added bool
	added, kept, err = s.pool.Add(s.callerOf(r, t), id, buffer)
	if errors.Is(err, ErrQuota) {
		w.Header().Set("Retry-After", "3600")
		refuse(w, http.StatusTooManyRequests, err.Error())
		return
	}
	if err != nil {
		s.broken(w, err)
		return
	}
	s.stats.accept.Observe(time.Since(begin).Seconds())
	w.Header().Set("Location", "/reports/"+id)
	if !added {
		tell200(w, taken{id, false})
		return
	}
	s.stats.accepted.Inc()
	reply(w, http.StatusCreated, taken{id, true})
}

// readReport reads a body into a buffer.
func (s *server) readReport(w http.ResponseWriter, r *http.Request, buffer *bytes.Buffer) (body []byte, status int, err error) {
	var from io.Reader = http.MaxBytesReader(w, patient{r, s.slow}, s.maxReport)
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		if from, err = gzip.NewReader(from); err != nil {
			return nil, http.StatusBadRequest, fmt.Errorf("the body is no gzip: %w", err)
		}
	default:
		return nil, http.StatusUnsupportedMediaType, errors.New("Content-Encoding may be gzip")
	}
	body, err = readAll(buffer, io.LimitReader(from, s.maxReport+1), r.ContentLength)
	switch {
	case errors.As(err, new(*http.MaxBytesError)) || int64(len(body)) > s.maxReport:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("a report has at most %d bytes here", s.maxReport)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("the body is cut short: %w", err)
	case len(body) == 0:
		return nil, http.StatusBadRequest, errors.New("the body is the report: it is empty")
	}
	return body, 0, nil
}

// A promised length is believed up to this.
const believedLength = 1 << 20

// readAll is io.ReadAll for a body whose length was promised: it seldom grows, and is read with few calls.
func readAll(body *bytes.Buffer, from io.Reader, promised int64) ([]byte, error) {
	if promised < 0 || promised > believedLength {
		promised = 0
	}
	room(body, int(promised)+bytes.MinRead) // with less, ReadFrom would grow it
	_, err := body.ReadFrom(from)
	return body.Bytes(), err
}

// patient reads a body as long as some bytes arrive in time. If the body is not read, as in a request without
// a token, the deadline of the headers applies.
type patient struct {
	*http.Request
	slow time.Duration
}

func (p patient) Read(into []byte) (int, error) {
	conn := connOf(p.Request)
	conn.SetReadDeadline(time.Now().Add(p.slow))
	n, err := p.Body.Read(into)
	if err == io.EOF {
		conn.SetReadDeadline(time.Time{}) // the work may take longer
	}
	return n, err
}

func (p patient) Close() error { return p.Body.Close() }

type connKey struct{}

func keepConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(r *http.Request) net.Conn { return r.Context().Value(connKey{}).(net.Conn) }

func (s *server) get(w http.ResponseWriter, r *http.Request, t *Token) {
	report, err := s.db.Get(t.Project, strings.TrimPrefix(r.URL.Path, "/reports/"))
	if err != nil {
		s.broken(w, err)
		return
	}
	form := r.URL.Query().Get("as")
	switch {
	case report == nil:
		refuse(w, http.StatusNotFound, "no report has this id")
	case form == "state" || report.Answer == nil && report.State != Failed:
		status := http.StatusOK
		if report.Answer == nil && report.State != Failed {
			status = http.StatusAccepted
		}
		reply(w, status, stateOf(*report))
	case report.State == Failed:
		reply(w, http.StatusUnprocessableEntity, stateOf(*report))
	default:
		s.tellResult(w, s.callerOf(r, t), report, form)
	}
}

// A page has its own script and styles, and loads nothing from elsewhere.
const pagePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

// tellResult sends the stored brief of a report. For other forms it asks a worker, which uses the current
// symbols.
func (s *server) tellResult(w http.ResponseWriter, by Caller, report *Report, form string) {
	var said answer
	var err error
	if form == "" {
		form = "json"
	}
	switch {
	case forms[form].of == nil:
		refuse(w, http.StatusBadRequest, "as= may be json, brief, text, html or state")
		return
	case form == "brief":
		err = unpackJSON(report.Answer, &said)
	default:
		err = s.askForm(by.Project, report, form, &said)
	}
	if err != nil {
		s.broken(w, err)
		return
	}
	if !s.recorded(w, by, didRead, report.ID) {
		return
	}
	w.Header().Set("Content-Type", forms[form].kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Machsym-State", report.State.String()) // waiting: better symbols arrived, and a better result will follow
	w.Write(said.tell(form))
}

func (s *server) askForm(project string, report *Report, form string, said *answer) error {
	body, err := unpack(report.Body)
	if err != nil {
		return err
	}
	set, err := s.db.Settings(project)
	if err != nil {
		return err
	}
	request := crashRequest(new(bytes.Buffer), body, form, "uses")
	answered, err := s.ask(request, set.Redact)
	if err == nil && s.fetched(answered) {
		answered, err = s.ask(request, set.Redact)
	}
	if err != nil {
		return err
	}
	if answered.Error != nil {
		return answered.Error
	}
	*said = *answered
	return nil
}

// fetched asks the sources for what an answer lacks. Another server may have had its files when it made the result that is kept.
func (s *server) fetched(lacks *answer) (came bool) {
	if s.fetch == nil {
		return false
	}
	for _, report := range lacks.Reports {
		for _, use := range report.Uses {
			if use.Missing && use.UUID != "" {
				came = s.fetch.get(context.Background(), wish{use.UUID, use.Name}).found || came
			}
		}
	}
	return came
}

// ask answers a request while the caller waits.
func (s *server) ask(request []byte, redact bool) (*answer, error) {
	var said answer
	err := s.askWorker(request, redact, func(line []byte) error { return json.Unmarshal(line, &said) })
	return &said, err
}

// askWorker asks a worker that has no reports of the queue.
func (s *server) askWorker(request []byte, redact bool, read func(line []byte) error) error {
	generation, err := s.db.Generation()
	if err != nil {
		return err
	}
	return s.askers.use(func(one *Askers) error { return one.of(redact).Ask(request, generation, read) })
}

func stateOf(r Report) map[string]any {
	return map[string]any{"id": r.ID, "state": r.State.String(), "reason": r.Reason, "deaths": r.Deaths, "received": r.Received}
}

// list sends the reports of a state or of a group, the newest first.
func (s *server) list(w http.ResponseWriter, r *http.Request, t *Token) {
	if group := r.URL.Query().Get("group"); group != "" {
		found, err := s.db.Grouped(t.Project, group, limitOf(r))
		s.tellList(w, found, err)
		return
	}
	for state := Waiting; state <= Failed; state++ {
		if state.String() != r.URL.Query().Get("state") {
			continue
		}
		found, err := s.db.List(t.Project, state, limitOf(r))
		s.tellList(w, found, err)
		return
	}
	refuse(w, http.StatusBadRequest, "state= may be waiting, working, done or failed; or name a group=")
}

func (s *server) tellList(w http.ResponseWriter, found []Report, err error) {
	list := []any{}
	for _, report := range found {
		list = append(list, stateOf(report))
	}
	s.tell(w, map[string]any{"reports": list}, err)
}

// limitOf reads limit=: 100 when it is absent, at most 1000.
func limitOf(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || n < 1 {
		return 100
	}
	if n > 1000 {
		return 1000
	}
	return n
}

func (s *server) remove(w http.ResponseWriter, r *http.Request, t *Token) {
	found, err := s.db.Delete(s.callerOf(r, t), strings.TrimPrefix(r.URL.Path, "/reports/"))
	s.changed(w, found, err)
}

func (s *server) retry(w http.ResponseWriter, r *http.Request, t *Token) {
	id := strings.TrimPrefix(r.URL.Path, "/reports/")
	if !strings.HasSuffix(id, "/retry") {
		refuse(w, http.StatusNotFound, "POST /reports/ID/retry")
		return
	}
	found, err := s.db.Retry(s.callerOf(r, t), strings.TrimSuffix(id, "/retry"))
	s.pool.Wake()
	s.changed(w, found, err)
}

func (s *server) changed(w http.ResponseWriter, found bool, err error) {
	switch {
	case err != nil:
		s.broken(w, err)
	case !found:
		refuse(w, http.StatusNotFound, "no report of this id can be changed so")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *server) groups(w http.ResponseWriter, r *http.Request, t *Token) {
	groups, err := s.db.Groups(t.Project, limitOf(r))
	s.tell(w, map[string]any{"groups": groups}, err)
}

func (s *server) missing(w http.ResponseWriter, r *http.Request, t *Token) {
	missing, err := s.db.Missing(t.Project, limitOf(r))
	s.tell(w, map[string]any{"missing": missing}, err)
}

func (s *server) upload(w http.ResponseWriter, r *http.Request, t *Token) {
	result, err := s.symbols.Add(s.callerOf(r, t), http.MaxBytesReader(w, patient{r, s.slow}, s.maxUpload), r.URL.Query().Get("name"))
	s.tellAdded(w, result, err)
}

func (s *server) tellAdded(w http.ResponseWriter, result *added, err error) {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a file has at most %d bytes here", s.maxUpload))
	case s.badBody(w, err):
	default:
		tell200(w, result)
	}
}

// badBody sends an error if a body could not be kept. Returns false if there was no error.
func (s *server) badBody(w http.ResponseWriter, err error) bool {
	switch {
	case errors.As(err, new(refused)):
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusBadRequest, "the body is cut short")
	case err != nil:
		s.broken(w, err)
	}
	return err != nil
}

// symbol serves a file of the store in the layout that Sentry calls unified: 4c/4c44b5.../debuginfo or executable.
func (s *server) symbol(w http.ResponseWriter, r *http.Request, t *Token) {
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/symbols/"), "/")
	folder := map[string]string{"debuginfo": ".dSYM/Contents/Resources/DWARF", "executable": ".binary"}
	if len(words) == 3 && folder[words[2]] != "" {
		if uuid, err := uuidBytes(words[0] + words[1]); err == nil {
			name := uuidText(uuid)
			found, _ := filepath.Glob(s.symbols.tool.store() + "/" + name[:2] + "/" + name + folder[words[2]] + "/[^.]*")
			if len(found) == 1 {
				if !s.recorded(w, s.callerOf(r, t), didDownload, name+" "+words[2]) {
					return
				}
				s.tellFile(w, r, found[0])
				return
			}
		}
	}
	refuse(w, http.StatusNotFound, "no such file of symbols")
}

// tellFile sends a file, packed if the client takes zstd. Parts of a file are not packed.
func (s *server) tellFile(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Vary", "Accept-Encoding")
	if r.Header.Get("Range") != "" || !takesZstd(r.Header.Get("Accept-Encoding")) {
		http.ServeFile(w, r, path)
		return
	}
	file, err := os.Open(path)
	if err != nil {
		s.broken(w, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Encoding", "zstd")
	if err := packStream(w, file); err != nil {
		panic(http.ErrAbortHandler) // the client sees that it is not whole
	}
}

// takesZstd reads an Accept-Encoding.
func takesZstd(accepted string) bool {
	for _, one := range strings.Split(accepted, ",") {
		name, how, _ := strings.Cut(one, ";")
		weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(how), "q="), 64)
		if strings.TrimSpace(name) == "zstd" && (err != nil || weight > 0) {
			return true
		}
	}
	return false
}

func (s *server) settings(w http.ResponseWriter, _ *http.Request, t *Token) {
	set, err := s.db.Settings(t.Project)
	s.tell(w, set, err)
}

// set changes the settings of the token's project.
func (s *server) set(w http.ResponseWriter, r *http.Request, t *Token) {
	var set Settings
	if !s.readJSON(w, r, &set) {
		return
	}
	if set.KeepDays < 0 || set.Quota < 0 {
		refuse(w, http.StatusBadRequest, `send {"keep_days":90,"quota":100000,"redact":true}; 0: no limit`)
		return
	}
	if err := s.db.Set(s.callerOf(r, t), set); err != nil {
		s.broken(w, err)
		return
	}
	s.pool.Wake()
	tell200(w, set)
}

// readJSON reads a body that may only have known members. False: it was refused.
func (s *server) readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	body, status, err := s.readReport(w, r, new(bytes.Buffer))
	if err != nil {
		refuse(w, status, err.Error())
		return false
	}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, err.Error()+": /openapi.json says what this path takes")
		return false
	}
	return true
}

// allowProfilers permits requests of profilers. With --profilers they need no token, because they cannot send
// one, and pages of that origin may read the answers.
func (s *server) allowProfilers(do handler) http.Handler {
	if s.profilers == "" {
		return s.allow("POST", "read", do)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", s.profilers)
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type")
		switch r.Method {
		case "OPTIONS":
			w.WriteHeader(http.StatusNoContent)
		case "POST":
			do(s, w, r, nil)
		default:
			refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
		}
	})
}

// notHere is for requests of profilers that have no answer here. They show the reason.
func notHere(why string) handler {
	return func(_ *server, w http.ResponseWriter, _ *http.Request, _ *Token) {
		refuse(w, http.StatusNotImplemented, why)
	}
}

// symbolicate answers like Mozilla's /symbolicate/v5.
func (s *server) symbolicate(w http.ResponseWriter, r *http.Request, _ *Token) {
	var asked map[string]json.RawMessage
	body, status, err := s.readReport(w, r, new(bytes.Buffer))
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	request := map[string]any{"do": "symbolicate"}
	for _, known := range []string{"jobs", "memoryMap", "stacks"} {
		if value, ok := asked[known]; ok {
			request[known] = value
		}
	}
	line, _ := json.Marshal(request)
	said, err := s.ask(append(line, '\n'), false)
	switch {
	case err != nil:
		s.broken(w, err)
	case said.Error != nil && said.Error.final():
		refuse(w, http.StatusBadRequest, said.Error.What)
	case said.Error != nil:
		s.broken(w, said.Error)
	default:
		tell200(w, map[string]any{"results": said.Results})
	}
}

// health is true while results arrive in time.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	counts, err := s.db.Counts()
	if err != nil {
		s.broken(w, err)
		return
	}
	status := http.StatusOK
	if counts.Oldest > s.maxAge {
		status = http.StatusServiceUnavailable
	}
	reply(w, status, map[string]any{"healthy": status == http.StatusOK, "oldest_seconds": counts.Oldest.Seconds(),
		"waiting": counts.States[Waiting] + counts.States[Leased], "done": counts.States[Done], "failed": counts.States[Failed]})
}

func metricsOf(s *server, w http.ResponseWriter, r *http.Request, _ *Token) {
	promhttp.HandlerFor(s.stats.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// The page shows reports, groups and missing images. It asks for a token, and uses the same requests as others.
//
//go:embed page.html
var page []byte

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		noPath(w)
		return
	}
	if r.Method != "GET" {
		refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'")
	w.Write(page)
}

// The OpenAPI description of all paths.
//
//go:embed openapi.json
var description []byte

func describe(w http.ResponseWriter, r *http.Request) {
	if r.Method != "GET" {
		refuse(w, http.StatusMethodNotAllowed, "this path has no "+r.Method)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(description)
}

// broken reports an error of the server, not of the caller: the same request may be sent again.
func (s *server) broken(w http.ResponseWriter, err error) {
	s.log.say("error", "what", "a request could not be answered", "why", err.Error())
	w.Header().Set("Retry-After", "5")
	why := "try again later"
	if isFull(err) {
		why = "no space left: try again later"
	} else if isAway(err) {
		why = "the database cannot be reached: try again later"
	}
	refuse(w, http.StatusServiceUnavailable, why)
}

// refuse sends an error at once. The client may still be sending, so the connection is closed.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	reply(w, status, map[string]string{"error": why})
}

// tell sends the database's answer.
func (s *server) tell(w http.ResponseWriter, value any, err error) {
	if err != nil {
		s.broken(w, err)
		return
	}
	tell200(w, value)
}

func tell200(w http.ResponseWriter, value any) { reply(w, http.StatusOK, value) }

func reply(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"no JSON can be made of the answer"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}

// logged writes a line for each failed request, and counts all requests.
func (s *server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusSeen{w, http.StatusOK, connOf(r), s.slow}
		seen.conn.SetWriteDeadline(time.Time{}) // ends the deadline of the previous answer
		next.ServeHTTP(seen, r)
		s.stats.requests.WithLabelValues(strconv.Itoa(seen.status)).Inc()
		if seen.status >= 400 {
			s.log.say("info", "client", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "status", seen.status)
		}
	})
}

// statusSeen remembers the status of an answer, and gives up on clients that do not take the answer.
type statusSeen struct {
	http.ResponseWriter
	status int
	conn   net.Conn
	slow   time.Duration
}

func (s *statusSeen) Write(data []byte) (int, error) {
	s.conn.SetWriteDeadline(time.Now().Add(s.slow))
	return s.ResponseWriter.Write(data)
}

func (s *statusSeen) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
