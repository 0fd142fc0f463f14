// machsym-server keeps crash reports and symbols, and symbolicates them: docs/server.md. One program, one folder.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log"
	mathrand "math/rand"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

type options struct {
	data, database, listen, machsym, cert, key, newToken, tokenName, demo, profilers, proxy string
	workers, connections, auditDays                                                         int
	maxReport, maxUpload                                                                    int64
	limits                                                                                  Limits
	maxAge, slow, shift                                                                     time.Duration
	from                                                                                    sourceFlags
}

func readOptions() options {
	var o options
	flag.StringVar(&o.data, "data", "", "`folder` of all that the server keeps; it is made when it is not there")
	flag.StringVar(&o.database, "database", "", "`postgres://USER@HOST/NAME` of a PostgreSQL for several servers (default: SQLite in the folder); its password: PGPASSFILE")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen at; port 0: any that is free")
	flag.StringVar(&o.machsym, "machsym", "", "the program machsym (default: beside this one, then in PATH)")
	flag.StringVar(&o.cert, "cert", "", "`file` with the certificate, for TLS; with -key")
	flag.StringVar(&o.key, "key", "", "`file` with its key")
	flag.StringVar(&o.newToken, "new-token", "", "make a token `ROLE[:PROJECT]`, print it and end; a role is send, read, upload or admin; server: an admin of all projects")
	flag.StringVar(&o.tokenName, "token-name", "", "`name` of the new token, for the audit (default: the first letters of its hash)")
	flag.StringVar(&o.demo, "demo", "", "load the reports and dSYMs of this `folder`, tests/fixtures of the sources")
	flag.StringVar(&o.profilers, "profilers", "", "answer profilers (/symbolicate/v5) without a token, also to pages of this `origin`; *: of any")
	flag.StringVar(&o.proxy, "proxy", "", "`address` of a proxy whose X-Forwarded-For the audit believes")
	flag.IntVar(&o.auditDays, "audit-days", 365, "days that the audit is kept")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "reports that are worked on at a time")
	flag.IntVar(&o.connections, "connections", 1024, "connections at a time; others wait")
	flag.Int64Var(&o.maxReport, "max-report", 16<<20, "`bytes` of a report")
	flag.Int64Var(&o.maxUpload, "max-upload", 8<<30, "`bytes` of a file of symbols")
	flag.IntVar(&o.limits.Seconds, "worker-seconds", 60, "deadline of a report; a worker that is late is killed")
	flag.IntVar(&o.limits.Megabytes, "worker-memory", 4096, "`megabytes` of address space of a worker")
	flag.DurationVar(&o.maxAge, "max-age", 5*time.Minute, "/health is false when a report waits longer")
	flag.DurationVar(&o.slow, "slow-client", 30*time.Second, "a client that sends or takes nothing for so long is cut off")
	flag.DurationVar(&o.shift, "test-clock", 0, "for tests: shift the clock of leases")
	flag.Var(&o.from.sources, "source", "ask for symbols that were not uploaded: unified=`URL`, ssqp=URL or s3=URL/BUCKET; repeatable. Keys of a bucket: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY")
	flag.Var(&o.from.hosts, "source-host", "a `HOST[:PORT]` that a source's redirect may name; repeatable. Hosts of sources may be named")
	flag.Var(&o.from.private, "source-private", "a `HOST[:PORT]` that may have a private or loopback address; repeatable")
	flag.DurationVar(&o.from.timeout, "source-timeout", time.Minute, "deadline of a file of a source")
	flag.DurationVar(&o.from.retry, "source-retry", time.Hour, "what a source has not is asked for again after this")
	flag.Int64Var(&o.from.cache, "source-cache", 20480, "`megabytes` of files of sources that are kept")
	flag.Parse()
	return o
}

// check refuses values with which the server would run without ever serving a request.
func (o options) check() error {
	for _, number := range []struct {
		name  string
		value int64
	}{{"workers", int64(o.workers)}, {"connections", int64(o.connections)}, {"max-report", o.maxReport}, {"max-upload", o.maxUpload},
		{"worker-seconds", int64(o.limits.Seconds)}, {"worker-memory", int64(o.limits.Megabytes)}, {"audit-days", int64(o.auditDays)}, {"max-age", int64(o.maxAge)}, {"slow-client", int64(o.slow)}} {
		if number.value <= 0 {
			return fmt.Errorf("--%s: it must be more than 0", number.name)
		}
	}
	if (o.cert == "") != (o.key == "") {
		return errors.New("--cert and --key: name both, or none")
	}
	if o.cert != "" {
		if _, err := tls.LoadX509KeyPair(o.cert, o.key); err != nil {
			return fmt.Errorf("--cert and --key: %w", err)
		}
	}
	return nil
}

// Bytes of a project's name.
const longestProject = 100

// isProject refuses names that could not be read in a log or in a list.
func isProject(name string) bool {
	return name != "" && len(name) <= longestProject && utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("machsym-server: ")
	debug.SetGCPercent(400) // few objects live long: spend memory to collect less often
	mathrand.Seed(time.Now().UnixNano())
	if err := run(readOptions()); err != nil {
		log.Fatal(err)
	}
}

func run(o options) error {
	if o.data == "" || flag.NArg() > 0 {
		return errors.New("usage: machsym-server --data DIR [options]; --help lists them")
	}
	if err := o.check(); err != nil {
		return err
	}
	wish, err := wishedToken(o.newToken, o.tokenName)
	if err != nil {
		return err
	}
	for _, folder := range []string{o.data, o.data + "/store", o.data + "/spool", o.data + "/cache"} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	data, err := filepath.Abs(o.data)
	if err != nil {
		return err
	}
	o.data = data
	db, err := openDatabase(o)
	if err != nil {
		return err
	}
	defer db.Close()
	if o.newToken != "" {
		return printToken(db, wish)
	}
	lock, err := lockData(o.data)
	if err != nil {
		return err
	}
	defer lock.Close()
	return serve(o, db)
}

func openDatabase(o options) (Database, error) {
	if o.database == "" {
		haveSpareThread()
		db, err := OpenSQLite(o.data+"/machsym.db", o.shift)
		if err != nil {
			return nil, fmt.Errorf("%s/machsym.db: %w", o.data, err)
		}
		return db, nil
	}
	holder, err := holderOf(o.data)
	if err != nil {
		return nil, err
	}
	db, err := OpenPostgres(o.database, holder, o.shift)
	if err != nil {
		return nil, fmt.Errorf("the database: %w", err)
	}
	return db, nil
}

// lockData ensures that only one server uses a folder. The system releases the lock when the program ends,
// even by a kill.
func lockData(data string) (*os.File, error) {
	lock, err := os.OpenFile(data+"/lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: another machsym-server has this folder", data)
	}
	return lock, nil
}

// wishedToken reads ROLE[:PROJECT]; without one it is no token.
func wishedToken(wish, name string) (t Token, err error) {
	if wish == "" {
		return t, nil
	}
	role, project, named := strings.Cut(wish, ":")
	if !named {
		project = "default"
	}
	if role == roleServer && !named {
		project = ""
	} else if !isRole(role) {
		return t, errors.New("--new-token ROLE[:PROJECT]: a role is send, read, upload or admin; server: an admin of all projects")
	} else if !isProject(project) {
		return t, fmt.Errorf("--new-token ROLE:PROJECT: a project's name has 1 to %d bytes of UTF-8, and no control characters", longestProject)
	}
	if name != "" && !isProject(name) {
		return t, fmt.Errorf("--token-name NAME: 1 to %d bytes of UTF-8, and no control characters", longestProject)
	}
	return Token{role, project, name}, nil
}

// isRole is true for the roles of tokens of a project.
func isRole(role string) bool {
	return role == "send" || role == "read" || role == "upload" || role == "admin"
}

func printToken(db Database, wish Token) error {
	token, err := newToken(db, Caller{Project: wish.Project}, wish)
	if err == nil {
		fmt.Println(token)
	}
	return err
}

// findMachsym returns the path from the option, else the program beside this one, else the one in PATH.
func findMachsym(o options) string {
	if o.machsym != "" {
		return o.machsym
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "machsym")
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return "machsym"
}

func serve(o options, db Database) error {
	say := logger{os.Stderr, new(sync.Mutex)}
	tool := Tool{findMachsym(o), o.data, o.limits, say}
	if err := tool.Try(); err != nil {
		return err
	}
	parts, err := newParts(o.data+"/parts", 2*o.maxUpload)
	if err != nil {
		return err
	}
	fetch, err := newFetcher(o.from, o.maxUpload, db, tool, say)
	if err != nil {
		return err
	}
	if fetch != nil {
		db = watched{db, fetch}
	}
	stats := newMetrics(db)
	p := newPool(db, tool, o.workers, stats, say)
	s := &server{db: db, pool: p, stats: stats, log: say, maxReport: o.maxReport, maxUpload: o.maxUpload, maxAge: o.maxAge, slow: o.slow, profilers: o.profilers, proxy: o.proxy,
		parts: parts, symbols: &symbols{db: db, tool: tool, pool: p}, askers: newWaiting(tool, o.workers), fetch: fetch}
	defer s.askers.Stop()
	if err := db.Release(); err != nil {
		return err
	}
	if err := s.symbols.Recover(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	url, token, err := sayWhere(o, db, listener)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	db.OnWork(p.Wake)
	var all sync.WaitGroup
	all.Add(1)
	go func() { defer all.Done(); p.Run(ctx) }()
	if fetch != nil {
		fetch.wake = p.Wake
		go fetch.Run(ctx)
		go fetch.Run(ctx)
	}
	go keepDays(ctx, db, parts, o.auditDays, say)
	if o.demo != "" {
		go loadDemo(url, token, o.demo, say)
	}
	err = listen(ctx, o, s, limitListener(listener, o.connections))
	stop()
	all.Wait()
	s.symbols.later.Wait()
	db.Release() // for other servers; else they wait until the leases end
	return err
}

// sayWhere prints the address, and at the first start of a folder also an admin token.
func sayWhere(o options, db Database, l net.Listener) (url, token string, err error) {
	url = "http://" + l.Addr().String()
	if o.cert != "" {
		url = "https://" + l.Addr().String()
	}
	has, err := db.HasTokens()
	if err == nil && (!has || o.demo != "") {
		token, err = newToken(db, Caller{Project: "default"}, Token{"admin", "default", ""})
	}
	if err != nil {
		return "", "", err
	}
	fmt.Println(url)
	if token != "" {
		fmt.Println("token " + token)
	}
	return url, token, nil
}

func listen(ctx context.Context, o options, s *server, l net.Listener) error {
	h := &http.Server{Handler: s.routes(), ReadTimeout: o.slow, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(s.log, "", 0), ConnContext: keepConn,
		TLSConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}} // HTTP/2 has one deadline for a whole connection
	ended := make(chan error, 1)
	go func() {
		if o.cert != "" || o.key != "" {
			ended <- h.ServeTLS(l, o.cert, o.key)
		} else {
			ended <- h.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		soon, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		h.Shutdown(soon)
		return nil
	}
}

// keepDays runs once an hour. It deletes old reports, and parts of files that were never completed.
func keepDays(ctx context.Context, db Database, parts *parts, auditDays int, say logger) {
	for {
		parts.expire()
		deleted, err := db.Expire()
		if err != nil {
			say.say("error", "what", "old reports stay", "why", err.Error())
		} else if deleted > 0 {
			say.say("info", "what", "old reports are deleted", "reports", deleted)
		}
		if _, err := db.ExpireAudit(auditDays); err != nil {
			say.say("error", "what", "an old part of the audit stays", "why", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
		}
	}
}

// limited accepts a connection only while fewer than its limit are open.
type limited struct {
	net.Listener
	free chan struct{}
}

func limitListener(l net.Listener, most int) net.Listener {
	return &limited{l, make(chan struct{}, most)}
}

func (l *limited) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, free: l.free}, nil
}

type limitedConn struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.free })
	return err
}
