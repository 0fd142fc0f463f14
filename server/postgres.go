package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
)

// postgres is a database for any number of servers at a time. Its rules are those of sqlite.go. What one writer
// ensures there, locks ensure here.
type postgres struct {
	db        *sql.DB
	holder    string // names the folder of this server, for its leases and uploads
	secret    []byte // of people.go
	clock     string // SQL of the database's clock in milliseconds since 1970
	hosts     *hosts
	wakes     chan struct{} // other servers are to be told that there is work
	closed    chan struct{}
	lock      sync.Mutex
	images    map[string]*knownImage // by UUID; an image is never deleted
	groups    map[string]bool        // whose titles are kept
	days      map[int64]bool         // that have tables
	doubtful  []int64                // leases whose commit has no answer
	moreWaits bool                   // Take found as many reports as it may take; only its caller uses it
	adding    *together[addition]
	finishing *together[finished]
	recording *together[record]
}

// Connections of a server at most. PostgreSQL has 100 for all, unless it is told otherwise.
const mostConnections = 16

// How long a change or a question may take before the database counts as away.
const (
	patience     = 30 * time.Second
	longPatience = time.Hour // for changes of any number of reports
)

// A transaction that others made impossible is tried so often.
const mostTries = 8

// New reports of projects without a quota are counted in this many rows, because a row has one writer at a time.
const usageSlots = 16

// So are all reports: the schema has these rows.
const tallySlots = 16

// Other servers are told of work at most once in this time.
const wakePause = 20 * time.Millisecond

// The keys of PostgreSQL's advisory locks.
const (
	lockSchema = 0x6d616368 // who changes the schema
	lockRules  = 0x6d616369 // symbols and settings of all: who changes them has it alone, who works by them shares it
)

// OpenPostgres connects to a database and brings its schema along. holder names the folder of this server. No error
// has the address, which may contain a password.
func OpenPostgres(address, holder string, shift time.Duration) (Database, error) {
	to, err := hostsOf(address)
	if err != nil {
		return nil, err
	}
	p := &postgres{db: sql.OpenDB(to), hosts: to, holder: holder, clock: clockOf(shift), wakes: make(chan struct{}, 1), closed: make(chan struct{}), days: map[int64]bool{}}
	p.adding = newTogether(p.closed, func(a addition) int { return len(a.packed) }, p.addAll)
	p.finishing = newTogether(p.closed, func(f finished) int { return len(f.result.Answer) }, p.finishAll)
	p.recording = newTogether(p.closed, func(r record) int { return len(r.object) }, p.recordAll)
	p.db.SetMaxOpenConns(mostConnections)
	p.db.SetMaxIdleConns(mostConnections)
	if err := p.open(); err != nil {
		close(p.closed)
		p.db.Close()
		return nil, err
	}
	go p.tellOthers()
	return p, nil
}

func clockOf(shift time.Duration) string {
	return fmt.Sprintf("((extract(epoch FROM clock_timestamp()) * 1000)::bigint + (%d))", shift.Milliseconds())
}

// holderOf returns the name of a server's folder. The folder keeps it, so a server that starts again knows its
// leases. A link is made by one only: of programs that start together in a new folder all have its name.
func holderOf(data string) (string, error) {
	path := data + "/server"
	if known, err := os.ReadFile(path); err == nil && len(known) > 0 {
		return strings.TrimSpace(string(known)), nil
	}
	made := make([]byte, 16)
	if _, err := rand.Read(made); err != nil {
		return "", err
	}
	name := hex.EncodeToString(made)
	fresh := path + "." + name
	defer os.Remove(fresh)
	if err := os.WriteFile(fresh, []byte(name), 0o600); err != nil {
		return "", err
	}
	err := os.Link(fresh, path)
	if errors.Is(err, os.ErrExist) {
		known, err := os.ReadFile(path)
		if err == nil && len(known) > 0 {
			return strings.TrimSpace(string(known)), nil
		}
		return name, os.Rename(fresh, path) // a system that went down left it empty
	}
	return name, err
}

func (p *postgres) open() error {
	return p.run(patience, func(s session) error {
		for _, setting := range []string{"synchronous_commit", "fsync"} {
			var value string
			if err := s.QueryRow("SELECT current_setting($1)", setting).Scan(&value); err != nil {
				return err
			}
			if value == "off" {
				return fmt.Errorf("this database has %s = off: reports could be lost; switch it on", setting)
			}
		}
		if err := migratePostgres(s); err != nil {
			return err
		}
		return s.QueryRow("SELECT secret FROM meta").Scan(&p.secret)
	})
}

// migratePostgres brings the schema along, in one transaction. Of servers that start together one does it.
func migratePostgres(s session) error {
	if err := s.do("SELECT pg_advisory_xact_lock($1)", lockSchema); err != nil {
		return err
	}
	var there bool
	if err := s.QueryRow("SELECT to_regclass('machsym_schema') IS NOT NULL").Scan(&there); err != nil {
		return err
	}
	version := 0
	if there {
		if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil { // other servers' work ends, or sees the new schema
			return err
		}
		if err := s.QueryRow("SELECT version FROM machsym_schema").Scan(&version); err != nil {
			return err
		}
	}
	if version > len(postgresSteps) {
		return newer(version)
	}
	if version == len(postgresSteps) {
		return nil
	}
	if there { // an older program may be adding a report, which the steps would not see
		if err := s.do("LOCK TABLE report, body, result, uses, others IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	for _, step := range postgresSteps[version:] {
		if err := s.do(step); err != nil {
			return err
		}
	}
	return s.do("UPDATE machsym_schema SET version = $1", len(postgresSteps))
}

func newer(version int) error {
	return fmt.Errorf("the database has schema %d, this program knows %d: use a newer machsym-server", version, len(postgresSteps))
}

// isOurs says whether a newer program changed the schema while this one ran.
func (s session) isOurs() error {
	var version int
	err := s.QueryRow("SELECT version FROM machsym_schema").Scan(&version)
	if err == nil && version != len(postgresSteps) {
		err = away{newer(version)}
	}
	return err
}

// shareRules lets no upload and no change of settings come until the transaction ends.
func (s session) shareRules() error {
	if err := s.do("SELECT pg_advisory_xact_lock_shared($1)", lockRules); err != nil {
		return err
	}
	return s.isOurs()
}

// session runs SQL on some connection, or in a transaction, until its context ends.
type session struct {
	*commitment
	context context.Context
	on      interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}
}

func (s session) Exec(text string, values ...any) (sql.Result, error) {
	return s.on.ExecContext(s.context, text, values...)
}

func (s session) Query(text string, values ...any) (*sql.Rows, error) {
	return s.on.QueryContext(s.context, text, values...)
}

func (s session) QueryRow(text string, values ...any) *sql.Row {
	return s.on.QueryRowContext(s.context, text, values...)
}

func (s session) do(text string, values ...any) error {
	_, err := s.Exec(text, values...)
	return err
}

// commitment is what happens after the commit of a transaction.
type commitment struct{ after []func() }

// read runs statements that need no transaction.
func (p *postgres) read(do func(session) error) error {
	soon, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return marked(do(session{nil, soon, p.db}))
}

func (p *postgres) change(do func(session) error) error { return p.run(patience, do) }

// run runs a transaction. do may run several times.
func (p *postgres) run(patience time.Duration, do func(session) error) (err error) {
	for try := 1; ; try++ {
		if err = marked(p.try(patience, do)); !isCollision(err) || try == mostTries {
			return err
		}
		time.Sleep(time.Duration(mathrand.Intn(20*try)) * time.Millisecond)
	}
}

func (p *postgres) try(patience time.Duration, do func(session) error) error {
	soon, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tx, err := p.db.BeginTx(soon, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var then commitment
	if err := do(session{&then, soon, tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if err := soon.Err(); err != nil { // it ended during the commit: PostgreSQL was told not to wait for its replica
		return err
	}
	for _, do := range then.after {
		do()
	}
	return nil
}

// isCollision recognises a deadlock, and what a transaction cannot do because of another one.
func isCollision(err error) bool {
	var of *pq.Error
	return errors.As(err, &of) && (of.Code == "40P01" || of.Code == "40001")
}

// away is an error of a database that could not be asked.
type away struct{ error }

func (a away) Unwrap() error { return a.error }

func isAway(err error) bool { return errors.As(err, new(away)) }

func marked(err error) error {
	if isUnreached(err) {
		return away{err}
	}
	return err
}

func isUnreached(err error) bool {
	var of *pq.Error
	if errors.As(err, &of) {
		switch of.Code.Class() {
		case "08", "57", "53": // the connection; it stops or starts; it has no room, memory or connections
			return true
		}
		switch of.Code {
		case "25006", "42P01", "42703", "0A000": // a replica; a newer program changes the schema
			return true
		}
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, errReplica) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
}

// isFullPostgres recognises that the database has no room on its disk.
func isFullPostgres(err error) bool {
	var of *pq.Error
	return errors.As(err, &of) && of.Code == "53100"
}

// plainText is what PostgreSQL takes as text: UTF-8 without zeros.
func plainText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func (p *postgres) Close() error {
	close(p.closed)
	return p.db.Close()
}

// OnWork calls wake when another server has work, and when the connection is there again.
func (p *postgres) OnWork(wake func()) {
	go func() {
		for !p.isClosed(0) {
			p.listen(wake)
			p.isClosed(time.Second)
		}
	}()
}

// isClosed waits a while for the end.
func (p *postgres) isClosed(pause time.Duration) bool {
	select {
	case <-p.closed:
		return true
	case <-time.After(pause):
		return false
	}
}

// listen hears one host until its connection ends. The next one may be to another host.
func (p *postgres) listen(wake func()) {
	lost := make(chan struct{}, 16)
	heard := pq.NewListener(p.hosts.address(), time.Second, time.Second, func(event pq.ListenerEventType, _ error) {
		if event == pq.ListenerEventDisconnected || event == pq.ListenerEventConnectionAttemptFailed {
			select {
			case lost <- struct{}{}:
			default:
			}
		}
	})
	defer heard.Close()
	go func() {
		if heard.Listen(workChannel) != nil { // a replica refuses
			lost <- struct{}{}
		}
	}()
	alive := time.NewTicker(silence)
	defer alive.Stop()
	wake()
	for {
		select {
		case <-p.closed:
			return
		case <-lost:
			return
		case <-alive.C:
			go heard.Ping() // a connection that was cut ends by it
		case <-heard.Notify:
			wake()
		}
	}
}

const workChannel = "machsym_work"

// hasWork lets tellOthers tell. Not in the transaction: those that tell commit one after another.
func (p *postgres) hasWork() {
	select {
	case p.wakes <- struct{}{}:
	default:
	}
}

func (p *postgres) tellOthers() {
	for {
		select {
		case <-p.closed:
			return
		case <-p.wakes:
			p.read(func(s session) error { return s.do("SELECT pg_notify($1, '')", workChannel) }) // they look once a second anyway
			time.Sleep(wakePause)
		}
	}
}

var errOver = errors.New("over the quota")

var errClosed = errors.New("the server ends")

// Take leases up to count reports, of each project the same number. What another server is taking is skipped.
func (p *postgres) Take(count int, lease time.Duration) (tasks []Task, err error) {
	if err := p.endDoubtful(); err != nil {
		return nil, err
	}
	if !p.moreWaits {
		if idle, err := p.nothingToDo(); idle || err != nil {
			return nil, err
		}
	}
	number := mathrand.Int63()
	err = p.change(func(s session) error {
		tasks = nil
		if err := s.shareRules(); err != nil { // settings go with the tasks
			return err
		}
		projects, err := texts(s, strings.ReplaceAll(waitingProjects, "CLOCK", p.clock))
		if err != nil {
			return err
		}
		for i, project := range projects {
			share := (count - len(tasks) + len(projects) - i - 1) / (len(projects) - i)
			if err := p.takeOf(s, project, share, number, lease, &tasks); err != nil {
				return err
			}
		}
		tasks, err = dropEmpty(s, tasks)
		return err
	})
	if err != nil {
		p.doubt(number)
		return nil, err
	}
	p.moreWaits = len(tasks) >= count
	return tasks, nil
}

// endDoubtful ends the leases of transactions whose commit had no answer: no worker has these reports.
func (p *postgres) endDoubtful() error {
	p.lock.Lock()
	leases := p.doubtful
	p.lock.Unlock()
	if len(leases) == 0 {
		return nil
	}
	err := p.change(func(s session) error {
		return s.do("UPDATE work SET lease = 0, until = 0 WHERE lease = ANY($1)", pq.Array(leases))
	})
	if err == nil {
		p.lock.Lock()
		p.doubtful = p.doubtful[len(leases):] // more may have come
		p.lock.Unlock()
	}
	return err
}

func (p *postgres) doubt(lease int64) {
	p.lock.Lock()
	p.doubtful = append(p.doubtful, lease)
	p.lock.Unlock()
}

func (p *postgres) nothingToDo() (idle bool, err error) {
	err = p.read(func(s session) error {
		return s.QueryRow("SELECT NOT EXISTS(SELECT 1 FROM work WHERE until < " + p.clock + ")").Scan(&idle)
	})
	return idle, err
}

// waitingProjects takes a step for each project, not for each report.
const waitingProjects = `WITH RECURSIVE waits AS (
	(SELECT project FROM work WHERE until < CLOCK ORDER BY project LIMIT 1)
	UNION ALL
	SELECT (SELECT project FROM work WHERE until < CLOCK AND project > waits.project ORDER BY project LIMIT 1) FROM waits WHERE project IS NOT NULL)
	SELECT project FROM waits WHERE project IS NOT NULL ORDER BY random()`

// takeOf appends reports of a project. The array makes PostgreSQL look for them once.
func (p *postgres) takeOf(s session, project string, count int, number int64, lease time.Duration, tasks *[]Task) error {
	var generation int64
	var redact bool
	err := s.QueryRow("SELECT generation, coalesce((SELECT redact FROM project WHERE name = $1), false) FROM meta", project).Scan(&generation, &redact)
	if err != nil {
		return err
	}
	var numbers, leaves []int64
	at := map[int64]int{}
	err = each(s, func(scan scan) error {
		t := Task{Lease: number, Generation: generation, Project: project, Redact: redact}
		var day int64
		if err := scan(&t.Number, &day, &t.Again); err != nil {
			return err
		}
		numbers, leaves, at[t.Number] = append(numbers, t.Number), append(leaves, day), len(*tasks)
		*tasks = append(*tasks, t)
		return nil
	}, `UPDATE work SET lease = $1, holder = $2, until = `+p.clock+` + $3 WHERE number = ANY(ARRAY(SELECT number FROM work
		WHERE project = $4 AND until < `+p.clock+` ORDER BY number LIMIT $5 FOR UPDATE SKIP LOCKED)) RETURNING number, leaves, again`,
		number, p.holder, lease.Milliseconds(), project, count)
	if err != nil || len(numbers) == 0 {
		return err
	}
	return each(s, func(scan scan) error {
		var of int64
		var body []byte
		err := scan(&of, &body)
		(*tasks)[at[of]].Body = body
		return err
	}, "SELECT number, body FROM body WHERE number = ANY($1) AND leaves = ANY($2)", pq.Array(numbers), pq.Array(leaves))
}

// dropEmpty removes work whose report was deleted at the moment when it was to be done again.
func dropEmpty(s session, tasks []Task) (whole []Task, err error) {
	for _, t := range tasks {
		if t.Body != nil {
			whole = append(whole, t)
		} else if err := s.do("DELETE FROM work WHERE number = $1 AND lease = $2", t.Number, t.Lease); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// Release ends the leases of this server's folder.
func (p *postgres) Release() error {
	err := p.change(func(s session) error {
		return s.do("UPDATE work SET lease = 0, until = 0 WHERE lease <> 0 AND holder = $1", p.holder)
	})
	p.hasWork()
	return err
}

// usedImages are the images of a report, each once.
type usedImages struct {
	all, others []int64
	images      []int64 // with missing beside it: rows of uses
	missing     []bool
}

// imagesOf returns the numbers of images, and adds those that are new. It does so before the transaction of the
// result: servers that wait for each other's images would be stuck.
func (p *postgres) imagesOf(uses []Use) (used usedImages, err error) {
	byUUID := map[string]Use{}
	for _, use := range uses {
		uuid, err := uuidBytes(use.UUID)
		if err != nil {
			continue
		}
		if before, twice := byUUID[string(uuid)]; twice {
			use = Use{before.UUID, before.Name, before.Missing || use.Missing, before.Symbols || use.Symbols}
		}
		byUUID[string(uuid)] = use
	}
	known, err := p.knownImages(byUUID)
	if err != nil {
		return used, err
	}
	for uuid, use := range byUUID {
		number := known[uuid].image
		used.all = append(used.all, number)
		if use.Missing || use.Symbols {
			used.images, used.missing = append(used.images, number), append(used.missing, use.Missing)
		} else {
			used.others = append(used.others, number)
		}
	}
	return used, p.setOthers(byUUID, known)
}

// knownImages asks the database about images that this server has not seen.
func (p *postgres) knownImages(uses map[string]Use) (map[string]knownImage, error) {
	known, unknown := map[string]knownImage{}, [][]byte{}
	p.lock.Lock()
	for uuid := range uses {
		if image := p.images[uuid]; image != nil {
			known[uuid] = *image
		} else {
			unknown = append(unknown, []byte(uuid))
		}
	}
	p.lock.Unlock()
	if len(unknown) == 0 {
		return known, nil
	}
	sort.Slice(unknown, func(i, j int) bool { return string(unknown[i]) < string(unknown[j]) }) // all servers add them in this order
	names := make([]string, len(unknown))
	for i, uuid := range unknown {
		names[i] = plainText(uses[string(uuid)].Name)
	}
	err := p.change(func(s session) error {
		return s.do("INSERT INTO image(uuid, name) SELECT * FROM unnest($1::bytea[], $2::text[]) ON CONFLICT DO NOTHING", pq.Array(unknown), pq.Array(names))
	})
	if err != nil {
		return nil, err
	}
	return known, p.read(func(s session) error {
		return each(s, func(scan scan) error {
			var uuid []byte
			var image knownImage
			err := scan(&uuid, &image.image, &image.others)
			known[string(uuid)] = image
			p.remember(string(uuid), image)
			return err
		}, "SELECT uuid, image, others FROM image WHERE uuid = ANY($1)", pq.Array(unknown))
	})
}

func (p *postgres) remember(uuid string, image knownImage) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.images == nil || len(p.images) >= mostKnown {
		p.images = map[string]*knownImage{}
	}
	p.images[uuid] = &image
}

// setOthers notes that a report has images in others.
func (p *postgres) setOthers(uses map[string]Use, known map[string]knownImage) error {
	var fresh []int64
	for uuid, use := range uses {
		if !use.Missing && !use.Symbols && !known[uuid].others {
			fresh = append(fresh, known[uuid].image)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := p.change(func(s session) error {
		return s.do(`UPDATE image SET others = true WHERE image = ANY(ARRAY(SELECT image FROM image WHERE image = ANY($1) AND NOT others
			ORDER BY image FOR UPDATE))`, pq.Array(fresh))
	})
	for uuid, use := range uses {
		if err == nil && !use.Missing && !use.Symbols {
			p.remember(uuid, knownImage{image: known[uuid].image, others: true})
		}
	}
	return err
}

// Fail counts a failure. After too many deaths, or at once if it is final, the report fails until a retry.
func (p *postgres) Fail(t Task, reason string, final bool, deaths int) (dead bool, err error) {
	err = p.change(func(s session) error {
		dead = false
		err := s.QueryRow(`WITH held AS (SELECT number FROM work WHERE number = $4 AND lease = $5 FOR UPDATE)
			UPDATE report SET deaths = deaths + 1, reason = $1, failed = $2 OR deaths + 1 >= $3 FROM held WHERE report.number = held.number RETURNING failed`,
			plainText(reason), final, deaths, t.Number, t.Lease).Scan(&dead)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil && dead {
			return s.do("DELETE FROM work WHERE number = $1", t.Number)
		}
		if err == nil {
			err = s.do("UPDATE work SET lease = 0, until = 0 WHERE number = $1", t.Number)
		}
		return err
	})
	return dead, err
}

func (p *postgres) Retry(by Caller, id string) (found bool, err error) {
	defer p.hasWork()
	return p.touch(by, didRetry, id, func(s session, number int64) (bool, error) {
		n, err := p.again(s, "number = $1", number)
		return n > 0, err
	})
}

// again lets reports that have a result, or failed, wait again. Those that wait or are in work go on.
func (p *postgres) again(s session, which string, values ...any) (int64, error) {
	return rows(s.Exec(`WITH which AS MATERIALIZED (SELECT number, project, leaves FROM report WHERE `+which+` ORDER BY number FOR UPDATE),
		cleared AS (UPDATE report SET failed = false, deaths = 0, reason = '' WHERE failed AND number IN (SELECT number FROM which))
		INSERT INTO work(number, project, leaves, since, again) SELECT number, project, leaves, `+p.clock+`, true FROM which ON CONFLICT DO NOTHING`, values...))
}

func (p *postgres) Delete(by Caller, id string) (bool, error) {
	return p.touch(by, didDelete, id, func(s session, number int64) (bool, error) { return true, deleteAll(s, []int64{number}) })
}

// touch changes one report, which it locks.
func (p *postgres) touch(by Caller, action, id string, do func(s session, number int64) (bool, error)) (found bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, nil
	}
	err = p.change(func(s session) error {
		var number int64
		found = false
		err := s.QueryRow("SELECT number FROM report WHERE project = $1 AND id = $2 FOR UPDATE", by.Project, key).Scan(&number)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			found, err = do(s, number)
		}
		if err == nil && found {
			err = p.audit(s, record{by, action, id})
		}
		return err
	})
	return found && err == nil, err
}

// Set stores the settings of a project. If redaction changes, old results are deleted and all are computed again.
func (p *postgres) Set(by Caller, set Settings) error {
	project := by.Project
	defer p.hasWork()
	return p.run(longPatience, func(s session) error {
		if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil {
			return err
		}
		var before bool
		if err := s.QueryRow("SELECT coalesce((SELECT redact FROM project WHERE name = $1), false)", project).Scan(&before); err != nil {
			return err
		}
		if before != set.Redact {
			if err := s.do("UPDATE result SET answer = NULL WHERE project = $1", project); err != nil {
				return err
			}
			if err := s.do("UPDATE work SET lease = 0, until = 0 WHERE project = $1", project); err != nil {
				return err
			}
			if _, err := p.again(s, "project = $1", project); err != nil {
				return err
			}
		}
		err := s.do(`INSERT INTO project VALUES($1, $2, $3, $4) ON CONFLICT(name) DO UPDATE SET keep_days = excluded.keep_days,
			quota = excluded.quota, redact = excluded.redact`, project, set.KeepDays, set.Quota, set.Redact)
		if err != nil {
			return err
		}
		return p.audit(s, record{by, didSet, set.text()})
	})
}

func (p *postgres) Settings(project string) (set Settings, err error) {
	err = p.ask("SELECT keep_days, quota, redact FROM project WHERE name = $1", []any{project}, &set.KeepDays, &set.Quota, &set.Redact)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return set, err
}

// ask reads the only row of a result.
func (p *postgres) ask(statement string, values []any, into ...any) error {
	return p.read(func(s session) error { return s.QueryRow(statement, values...).Scan(into...) })
}

func (p *postgres) Get(project, id string) (*Report, error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return nil, nil
	}
	r := Report{ID: id}
	var received int64
	err = p.read(func(s session) error {
		var number, leaves int64
		err := s.QueryRow("SELECT number, report.leaves, "+p.state()+", deaths, reason, received FROM report LEFT JOIN work USING(number) WHERE report.project = $1 AND id = $2",
			project, key).Scan(&number, &leaves, &r.State, &r.Deaths, &r.Reason, &received)
		if err != nil {
			return err
		}
		return s.QueryRow("SELECT body, answer FROM body LEFT JOIN result USING(number, leaves) WHERE number = $1 AND leaves = $2", number, leaves).Scan(&r.Body, &r.Answer)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	r.Received = time.UnixMilli(received).UTC()
	return &r, err
}

// state is SQL of a report's state.
func (p *postgres) state() string {
	return "CASE WHEN failed THEN 3 WHEN work.number IS NULL THEN 2 WHEN work.until < " + p.clock + " THEN 0 ELSE 1 END"
}

func (p *postgres) List(project string, state State, limit int) ([]Report, error) {
	switch state {
	case Done:
		return p.list("report LEFT JOIN work USING(number) WHERE report.project = $1 AND NOT failed AND work.number IS NULL ORDER BY report.received DESC, number DESC LIMIT $2", project, limit)
	case Failed:
		return p.list("report LEFT JOIN work USING(number) WHERE report.project = $1 AND failed ORDER BY number DESC LIMIT $2", project, limit)
	}
	return p.list("work JOIN report USING(number) WHERE work.project = $1 AND (until >= "+p.clock+") = $2 ORDER BY number DESC LIMIT $3", project, state == Leased, limit)
}

func (p *postgres) Grouped(project, group string, limit int) ([]Report, error) {
	return p.list(`(SELECT number, received FROM result WHERE project = $1 AND grp = $2 AND grp <> '' ORDER BY received DESC LIMIT $3) AS newest
		JOIN report USING(number) LEFT JOIN work USING(number) ORDER BY newest.received DESC`, project, plainText(group), limit)
}

func (p *postgres) list(which string, values ...any) (list []Report, err error) {
	err = p.read(func(s session) error {
		list, err = allOf(s, readReport, "SELECT id, "+p.state()+", deaths, reason, report.received FROM "+which, values...)
		return err
	})
	return list, err
}

func (p *postgres) Groups(project string, limit int) (list []Group, err error) {
	err = p.read(func(s session) error {
		list, err = allOf(s, readGroup, `SELECT grp, title, count(*) AS many, min(received), max(received) FROM result JOIN grp ON hash = grp
			WHERE project = $1 AND grp <> '' GROUP BY grp, title ORDER BY many DESC, grp LIMIT $2`, project, limit)
		return err
	})
	return list, err
}

func (p *postgres) Missing(project string, limit int) (list []Want, err error) {
	err = p.read(func(s session) error {
		list, err = allOf(s, readWant, `SELECT uuid, name, count(*) AS many FROM uses JOIN image USING(image) JOIN report USING(number)
			WHERE missing AND project = $1 GROUP BY image.image ORDER BY many DESC, uuid LIMIT $2`, project, limit)
		return err
	})
	return list, err
}

func (p *postgres) Counts() (c Counts, err error) {
	var oldest int64
	err = p.read(func(s session) error {
		var reports int
		err := s.QueryRow("SELECT count(*) FILTER (WHERE until < "+p.clock+"), count(*), greatest(0, "+p.clock+" - min(since)) FROM work").Scan(&c.States[Waiting], &c.States[Leased], &oldest)
		if err != nil {
			return err
		}
		err = s.QueryRow("SELECT (SELECT sum(reports) FROM tally), count(*) FROM report WHERE failed").Scan(&reports, &c.States[Failed])
		c.States[Done] = reports - c.States[Leased] - c.States[Failed]
		c.States[Leased] -= c.States[Waiting]
		return err
	})
	c.Oldest = time.Duration(oldest) * time.Millisecond
	return c, err
}

// Improve ends an upload: the store has better symbols of these UUIDs. All reports that use one of them wait again.
func (p *postgres) Improve(upload string, texts []string) (redone int64, err error) {
	uuids := [][]byte{}
	for _, text := range texts {
		if uuid, err := uuidBytes(text); err == nil {
			uuids = append(uuids, uuid)
		}
	}
	err = p.run(longPatience, func(s session) error {
		redone, err = p.improve(s, pq.Array(uuids))
		if err != nil {
			return err
		}
		return p.endUpload(s, upload, texts)
	})
	p.hasWork()
	return redone, err
}

func (p *postgres) improve(s session, uuids any) (redone int64, err error) {
	if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil {
		return 0, err
	}
	if err := s.do("UPDATE meta SET generation = generation + 1"); err != nil {
		return 0, err
	}
	err = s.do(`INSERT INTO symbol SELECT DISTINCT unnest($1::bytea[]), generation FROM meta
		ON CONFLICT(uuid) DO UPDATE SET generation = excluded.generation`, uuids)
	if err != nil {
		return 0, err
	}
	redone, err = p.again(s, "number IN (SELECT number FROM uses JOIN image USING(image) WHERE uuid = ANY($1))", uuids)
	if err != nil {
		return 0, err
	}
	var others []int64
	err = s.QueryRow("SELECT array_agg(image) FROM image WHERE uuid = ANY($1) AND others", uuids).Scan(pq.Array(&others))
	if err != nil || len(others) == 0 {
		return redone, err
	}
	n, err := p.again(s, "number IN (SELECT number FROM others WHERE images && $1)", pq.Array(others)) // rare: all reports are searched
	return redone + n, err
}

func (p *postgres) BeginUpload(by Caller, name string) error {
	return p.change(func(s session) error {
		return s.do("INSERT INTO upload VALUES($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING", p.holder, name, by.Project, plainText(by.Token), by.Address)
	})
}

// endUpload writes to the audit which images it brought. What a source of symbols had is no upload.
func (p *postgres) endUpload(s session, upload string, uuids []string) error {
	var by Caller
	err := s.QueryRow("DELETE FROM upload WHERE holder = $1 AND name = $2 RETURNING project, token, address", p.holder, upload).Scan(&by.Project, &by.Token, &by.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	all := make([]record, len(uuids))
	for i, uuid := range uuids {
		all[i] = record{by, didUpload, uuid}
	}
	return p.audit(s, all...)
}

// Uploads are those of this server, whose folder has the files.
func (p *postgres) Uploads() (names []string, err error) {
	err = p.read(func(s session) error {
		return each(s, func(scan scan) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		}, "SELECT name FROM upload WHERE holder = $1", p.holder)
	})
	return names, err
}

func (p *postgres) Generation() (generation int64, err error) {
	err = p.ask("SELECT generation FROM meta", nil, &generation)
	return generation, err
}

func (p *postgres) AddToken(by Caller, hash string, t Token) error {
	return p.change(func(s session) error {
		if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil { // else two of one name could come at once
			return err
		}
		n, err := rows(s.Exec(`INSERT INTO token SELECT $1, $2, $3, $4
			WHERE NOT EXISTS(SELECT 1 FROM token WHERE project = $3 AND name = $4)`, hash, t.Role, t.Project, t.Name))
		if err == nil && n == 0 {
			err = ErrTaken
		}
		if err != nil {
			return err
		}
		return p.audit(s, record{by, didToken, t.Role + " " + t.Name})
	})
}

func (p *postgres) FindToken(hash string) (*Token, error) {
	var t Token
	err := p.ask("SELECT role, project, name FROM token WHERE hash = $1", []any{hash}, &t.Role, &t.Project, &t.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &t, err
}

func (p *postgres) Tokens(project string) (list []Token, err error) {
	err = p.read(func(s session) error {
		list, err = allOf(s, readToken, "SELECT role, project, name FROM token WHERE project = $1 ORDER BY name", project)
		return err
	})
	return list, err
}

func (p *postgres) DeleteToken(by Caller, name string) (found bool, err error) {
	err = p.change(func(s session) error {
		n, err := rows(s.Exec("DELETE FROM token WHERE project = $1 AND name = $2", by.Project, plainText(name)))
		if found = n > 0; !found || err != nil {
			return err
		}
		return p.audit(s, record{by, didRevoke, name})
	})
	return found && err == nil, err
}

func (p *postgres) HasTokens() (has bool, err error) {
	err = p.ask("SELECT EXISTS(SELECT 1 FROM token)", nil, &has)
	return has, err
}
