package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	"net/url"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// The schema, one step for each version. A released step is never changed: a later one is added.
var steps = []string{`
CREATE TABLE report(
    number     INTEGER PRIMARY KEY,
    project    TEXT NOT NULL,
    id         BLOB NOT NULL,              -- SHA-256 of the bytes that were sent
    received   INTEGER NOT NULL,           -- milliseconds since 1970, as all times here
    body       BLOB NOT NULL,              -- compressed
    state      INTEGER NOT NULL DEFAULT 0,
    since      INTEGER NOT NULL,           -- when it began to wait
    lease      INTEGER NOT NULL DEFAULT 0, -- who works on it
    until      INTEGER NOT NULL DEFAULT 0, -- when the lease ends
    deaths     INTEGER NOT NULL DEFAULT 0, -- workers that it ended
    reason     TEXT NOT NULL DEFAULT '',
    answer     BLOB,                       -- compressed; the newest result
    grp        TEXT NOT NULL DEFAULT '',
    UNIQUE(project, id));
CREATE INDEX report_state ON report(state, project, number, since);
CREATE INDEX report_group ON report(project, grp, received) WHERE grp <> '';
CREATE TABLE grp(hash TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE image(uuid BLOB PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE uses(
    uuid    BLOB NOT NULL,
    number  INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    PRIMARY KEY(uuid, number)) WITHOUT ROWID;
CREATE INDEX uses_number ON uses(number);
CREATE INDEX uses_missing ON uses(uuid, number) WHERE missing;
CREATE TABLE symbol(uuid BLOB PRIMARY KEY, generation INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE upload(name TEXT PRIMARY KEY) WITHOUT ROWID; -- begun, and not yet in the store for sure
CREATE TABLE meta(generation INTEGER NOT NULL);
INSERT INTO meta VALUES(0);
CREATE TABLE token(hash TEXT PRIMARY KEY, role TEXT NOT NULL, project TEXT NOT NULL) WITHOUT ROWID;
`, `
CREATE TABLE project(
    name      TEXT PRIMARY KEY,
    keep_days INTEGER NOT NULL,
    quota     INTEGER NOT NULL,
    redact    INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE usage(
    project TEXT NOT NULL,
    day     INTEGER NOT NULL,              -- since 1970
    count   INTEGER NOT NULL,              -- of new reports
    PRIMARY KEY(project, day)) WITHOUT ROWID;
CREATE INDEX report_received ON report(project, received);
`, `
ALTER TABLE image RENAME TO image_1;
ALTER TABLE uses RENAME TO uses_1;
CREATE TABLE image(
    image INTEGER PRIMARY KEY,             -- short: most reports use the same images
    uuid  BLOB NOT NULL UNIQUE,
    name  TEXT NOT NULL);
INSERT INTO image(uuid, name) SELECT uuid, name FROM image_1 ORDER BY uuid;
CREATE TABLE uses(
    number  INTEGER NOT NULL,
    image   INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    PRIMARY KEY(number, image)) WITHOUT ROWID;
INSERT INTO uses SELECT number, image, missing FROM uses_1 JOIN image USING(uuid) ORDER BY number, image;
DROP TABLE uses_1;
DROP TABLE image_1;
CREATE INDEX uses_image ON uses(image, number);
CREATE INDEX uses_missing ON uses(image, number) WHERE missing;
CREATE TABLE result(                       -- the newest one; in report it would make rows grow, which leaves pages half empty
    number INTEGER PRIMARY KEY,
    answer BLOB NOT NULL);                 -- compressed
INSERT INTO result SELECT number, answer FROM report WHERE answer IS NOT NULL;
ALTER TABLE report DROP COLUMN answer;
`, `
CREATE TABLE body(                         -- in report it would be written again whenever the state changes
    number INTEGER PRIMARY KEY,
    body   BLOB NOT NULL);                 -- compressed
INSERT INTO body SELECT number, body FROM report;
ALTER TABLE report DROP COLUMN body;
CREATE TABLE others(                       -- used images that need no symbols: most of them, of the system
    number INTEGER PRIMARY KEY,
    images TEXT NOT NULL);                 -- a list in JSON; rows of uses would take ten times the time and room
ALTER TABLE image ADD COLUMN others INTEGER NOT NULL DEFAULT 0; -- some report has it in others
`, `
CREATE TABLE tally(                        -- of reports in each state: a count of the rows would take a second for millions
    state INTEGER PRIMARY KEY,
    count INTEGER NOT NULL);
INSERT INTO tally SELECT value, (SELECT count(*) FROM report WHERE state = value) FROM json_each('[0,1,2,3]');
CREATE TRIGGER tally_added AFTER INSERT ON report BEGIN
    UPDATE tally SET count = count + 1 WHERE state = new.state;
END;
CREATE TRIGGER tally_removed AFTER DELETE ON report BEGIN
    UPDATE tally SET count = count - 1 WHERE state = old.state;
END;
CREATE TRIGGER tally_changed AFTER UPDATE OF state ON report WHEN old.state <> new.state BEGIN
    UPDATE tally SET count = count - 1 WHERE state = old.state;
    UPDATE tally SET count = count + 1 WHERE state = new.state;
END;
CREATE INDEX report_waits ON report(since) WHERE state < 2;
`, `
CREATE TABLE audit(                        -- who did what
    number  INTEGER PRIMARY KEY,
    time    INTEGER NOT NULL,
    project TEXT NOT NULL,
    token   TEXT NOT NULL,                 -- its name
    address TEXT NOT NULL,
    action  TEXT NOT NULL,
    object  TEXT NOT NULL);
CREATE INDEX audit_project ON audit(project, time);
ALTER TABLE token ADD COLUMN name TEXT NOT NULL DEFAULT '';
UPDATE token SET name = substr(hash, 1, 8);
ALTER TABLE upload ADD COLUMN project TEXT NOT NULL DEFAULT ''; -- with token and address: who sent it
ALTER TABLE upload ADD COLUMN token TEXT NOT NULL DEFAULT '';
ALTER TABLE upload ADD COLUMN address TEXT NOT NULL DEFAULT '';
`, `
ALTER TABLE others ADD COLUMN people TEXT; -- a list in JSON of numbers: people.go; NULL: not known yet
ALTER TABLE meta ADD COLUMN secret BLOB;
UPDATE meta SET secret = randomblob(32);
CREATE TABLE forgotten(                    -- people whose reports were deleted: those without a result then are deleted when they have one
    project TEXT NOT NULL,
    person  INTEGER NOT NULL,
    time    INTEGER NOT NULL,              -- reports that came later stay
    PRIMARY KEY(project, person)) WITHOUT ROWID;
`}

const dayMilliseconds = 86400 * 1000

// Up to this many requests share a commit. A commit waits for the disk, and requests that arrive meanwhile
// are committed together.
const commitTogether = 256

// While commits are shared, they begin at least this long after each other: a commit writes whole pages and waits
// for the disk, and a few more changes hardly add to that. A change that comes alone is committed at once.
const (
	commitPause  = 10 * time.Millisecond
	commitShared = 4 // changes
)

type change struct {
	do    func(*statements) error // may run several times; after an error, all of the transaction is undone
	grows bool                    // it adds data that can be sent again later, so it is refused while the disk is full
	done  chan error
}

type sqlite struct {
	files       [2]*sql.DB // with one connection that writes, and with those that read
	write, read *statements
	known       known // only commitAll's goroutine uses it
	changes     chan change
	ended       chan struct{}
	room        reserve
	moreWaits   bool // Take found as many reports as it may take; only its caller uses it
	secret      []byte
	shift       time.Duration // added to the clock, for tests
}

// A report's id is random, so it belongs into any page of the index of ids. With SQLite's usual 2 MB the writer
// would read most of these pages again and again. In KB.
const writerCache = "&_cache_size=-16000"

// OpenSQLite opens the database in a file. It creates a missing file, and converts an older schema to the
// newest.
func OpenSQLite(path string, shift time.Duration) (Database, error) {
	const options = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_foreign_keys=off"
	file := (&url.URL{Scheme: "file", Path: path}).String() // a folder's name may contain a question mark
	write, err := sql.Open("sqlite3", file+options+writerCache)
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite3", file+options+"&_query_only=on")
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8) // a connection that is closed loses its prepared statements
	if err := migrate(write); err != nil {
		return nil, err
	}
	writer, err := write.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	s := &sqlite{files: [2]*sql.DB{write, read}, write: &statements{on: writer}, read: &statements{on: read},
		changes: make(chan change, commitTogether), ended: make(chan struct{}), room: reserve{path: path + "-reserve"}, shift: shift}
	if _, err := writer.ExecContext(context.Background(), fmt.Sprintf("PRAGMA journal_size_limit = %d", reserveBytes/2)); err != nil {
		return nil, err
	}
	if err := s.write.QueryRow("SELECT secret FROM meta").Scan(&s.secret); err != nil {
		return nil, err
	}
	s.room.given = !s.room.make()
	go s.commitAll()
	return s, nil
}

func migrate(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("the database has schema %d, this program knows %d: use a newer machsym-server", version, len(steps))
	}
	for ; version < len(steps); version++ {
		if _, err := tx.Exec(steps[version]); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// commitAll runs changes one after another, and commits all waiting ones together. It ends when the channel
// is closed.
func (s *sqlite) commitAll() {
	defer close(s.ended)
	var last time.Time // when a shared commit began
	for first := range s.changes {
		time.Sleep(commitPause - time.Since(last))
		if s.room.due() {
			s.room.given = !s.room.make() && !s.hollow()
		}
		together := []change{first}
		for len(together) < s.most() && len(s.changes) > 0 {
			together = append(together, <-s.changes)
		}
		last = time.Time{}
		if len(together) >= commitShared {
			last = time.Now()
		}
		results := s.commitSurely(together)
		for i, c := range together {
			c.done <- results[i]
		}
	}
}

// hollow says whether deleted reports left room inside the file, which does not shrink.
func (s *sqlite) hollow() bool {
	var free, size int64
	err := s.write.QueryRow("SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size").Scan(&free, &size)
	return err == nil && free*size >= reserveBytes
}

// most is the number of changes in a commit. On a full disk it is one, because a small commit finds room
// sooner.
func (s *sqlite) most() int {
	if s.room.given {
		return 1
	}
	return commitTogether
}

// commitSurely repeats a commit that found the disk full, with the room of the reserve. It returns the result
// of each change.
func (s *sqlite) commitSurely(together []change) []error {
	results, err := s.commit(together)
	if isFull(err) {
		s.room.give()
		s.emptyJournal()
		results, err = s.commit(together)
	}
	if s.room.given {
		s.emptyJournal()
	}
	for i := range results {
		if err != nil {
			results[i] = err
		}
	}
	return results
}

// emptyJournal writes the journal back into the database and truncates it. If that fails, nothing is lost:
// the next commit tries again.
func (s *sqlite) emptyJournal() {
	var busy, pages, moved int64
	s.write.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
}

// commit runs changes in one transaction. If one fails, all are undone, and the others run again without it:
// a savepoint for each change would copy every page that it touches.
func (s *sqlite) commit(together []change) (results []error, err error) {
	results = make([]error, len(together))
	for err = errFailed; err == errFailed; {
		if err = s.try(together, results); err != nil {
			s.known = known{} // it may have what was undone
		}
	}
	return results, err
}

// errFailed says that one change failed. Its result has the reason.
var errFailed = errors.New("a change failed")

// try runs the changes that have no error yet.
func (s *sqlite) try(together []change, results []error) (err error) {
	if _, err := s.write.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.write.Exec("ROLLBACK") // fails if SQLite has undone all by itself
		}
	}()
	for i, c := range together {
		if s.room.given && c.grows {
			results[i] = ErrFull
		}
		if results[i] != nil {
			continue
		}
		if err := c.do(s.write); isFull(err) {
			return err
		} else if err != nil {
			results[i] = err
			return errFailed
		}
	}
	if err := s.known.storeUsage(s.write); err != nil {
		return err
	}
	_, err = s.write.Exec("COMMIT")
	return err
}

func (s *sqlite) change(do func(*statements) error) error { return s.run(change{do: do}) }

func (s *sqlite) run(c change) error {
	c.done = make(chan error, 1)
	s.changes <- c
	return <-c.done
}

// OnWork never calls: no other server uses the file.
func (s *sqlite) OnWork(func()) {}

func (s *sqlite) now() int64 { return time.Now().Add(s.shift).UnixMilli() }

func (s *sqlite) Close() error {
	close(s.changes)
	<-s.ended
	for _, text := range s.write.known { // a connection with open statements stays open
		text.Close()
	}
	s.write.on.(*sql.Conn).Close()
	s.files[1].Close()
	return s.files[0].Close()
}

func (s *sqlite) Add(by Caller, id string, body []byte) (added bool, err error) {
	task, err := s.add(by, id, body, Task{}, 0)
	return task != nil, err
}

func (s *sqlite) AddLeased(by Caller, id string, body []byte, lease time.Duration) (*Task, error) {
	return s.add(by, id, body, Task{Lease: rand.Int63()}, lease)
}

// add returns the task of a new report. Without a lease the report waits.
func (s *sqlite) add(by Caller, id string, body []byte, as Task, lease time.Duration) (task *Task, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return nil, err
	}
	packed, now, over := pack(body), s.now(), false
	state, until := Waiting, int64(0)
	if lease > 0 {
		state, until = Leased, now+lease.Milliseconds()
	}
	err = s.run(change{grows: true, do: func(tx *statements) error {
		task, over = nil, false
		made, err := tx.Exec("INSERT INTO report(project, id, received, since, state, lease, until) VALUES(?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
			by.Project, key, now, now, int(state), as.Lease, until)
		if n, err := rows(made, err); err != nil || n == 0 {
			return err
		}
		number, err := made.LastInsertId()
		if err != nil {
			return err
		}
		if over, err = s.known.countUse(tx, by.Project, now/dayMilliseconds); err != nil {
			return err
		}
		if over { // no error, which would undo the changes of others, too
			_, err := tx.Exec("DELETE FROM report WHERE number = ?", number)
			return err
		}
		as.Number, as.Project, as.Redact = number, by.Project, s.known.usage[by.Project].redact
		if as.Generation, err = s.known.symbols(tx); err != nil {
			return err
		}
		task = &as
		if _, err = tx.Exec("INSERT INTO body VALUES(?,?)", number, packed); err != nil {
			return err
		}
		return audit(tx, now, by, didSend, id)
	}})
	if err == nil && over {
		err = ErrQuota
	}
	if err != nil {
		return nil, err
	}
	return task, nil
}

// projectsWaiting lists projects with waiting reports, in any order. It looks into the index once for each project;
// SELECT DISTINCT would read the entries of all waiting reports.
const projectsWaiting = `WITH RECURSIVE next(project) AS (SELECT min(project) FROM report WHERE state = 0
	UNION ALL SELECT (SELECT min(project) FROM report WHERE state = 0 AND project > next.project) FROM next WHERE project IS NOT NULL)
	SELECT project FROM next WHERE project IS NOT NULL ORDER BY random()`

// Take leases up to count reports. Each project with waiting reports gets the same number, so that no project
// delays the others.
func (s *sqlite) Take(count int, lease time.Duration) (tasks []Task, err error) {
	if !s.moreWaits {
		idle, err := s.nothingToDo()
		if idle || err != nil {
			return nil, err
		}
	}
	err = s.change(func(tx *statements) error {
		tasks = nil
		now := s.now()
		if _, err := tx.Exec("UPDATE report SET state = 0 WHERE state = 1 AND until < ?", now); err != nil {
			return err
		}
		projects, err := texts(tx, projectsWaiting)
		if err != nil {
			return err
		}
		for i, project := range projects {
			share := (count - len(tasks) + len(projects) - i - 1) / (len(projects) - i)
			if err := takeOf(tx, project, share, now+lease.Milliseconds(), &tasks); err != nil {
				return err
			}
		}
		return nil
	})
	s.moreWaits = len(tasks) == count
	return tasks, err
}

func (s *sqlite) nothingToDo() (bool, error) {
	var one int
	err := s.read.QueryRow("SELECT 1 FROM report WHERE state < 2 AND (state = 0 OR until < ?) LIMIT 1", s.now()).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return false, err
}

// takeOf appends reports of a project.
func takeOf(tx *statements, project string, count int, until int64, tasks *[]Task) error {
	var generation int64
	var redact bool
	err := tx.QueryRow("SELECT generation, coalesce((SELECT redact FROM project WHERE name = ?), 0) FROM meta", project).
		Scan(&generation, &redact)
	if err != nil {
		return err
	}
	return each(tx, func(scan scan) error {
		t := Task{Generation: generation, Project: project, Redact: redact}
		if err := scan(&t.Number, &t.Lease, &t.Body, &t.Again); err != nil {
			return err
		}
		*tasks = append(*tasks, t)
		return nil
	}, `UPDATE report SET state = 1, lease = ?, until = ? WHERE number IN (SELECT number FROM report
		WHERE state = 0 AND project = ? ORDER BY number LIMIT ?) RETURNING number, lease,
		(SELECT body FROM body WHERE body.number = report.number), EXISTS(SELECT 1 FROM others WHERE others.number = report.number)
		OR EXISTS(SELECT 1 FROM uses WHERE uses.number = report.number)`, rand.Int63(), until, project, count)
}

// Release ends all leases. Only the program that works on the reports may call it, at its start.
func (s *sqlite) Release() error {
	return s.change(func(tx *statements) error {
		_, err := tx.Exec("UPDATE report SET state = 0 WHERE state = 1")
		return err
	})
}

// Finish stores a result, its group and the images that it uses. If better symbols of one of these came since
// the worker began, the report waits again. If the lease has ended, the result is dropped, because another
// worker has the report.
func (s *sqlite) Finish(t Task, r Result) error {
	return s.change(func(tx *statements) error {
		n, err := rows(tx.Exec("UPDATE report SET state = 2, grp = ?, deaths = 0, reason = '' WHERE number = ? AND state = 1 AND lease = ?",
			r.Group, t.Number, t.Lease))
		if err != nil || n == 0 {
			return err
		}
		if _, err := tx.Exec("REPLACE INTO result VALUES(?,?)", t.Number, r.Answer); err != nil {
			return err
		}
		if err := s.known.keepGroup(tx, r.Group, r.Title); err != nil {
			return err
		}
		persons := personsOf(s.secret, t.Project, r.People)
		if err := s.known.keepUses(tx, t, r.Images, persons); err != nil {
			return err
		}
		if gone, err := s.isForgotten(tx, t, persons); err != nil || gone {
			return err
		}
		return s.known.waitAgain(tx, t.Number, r.Generation)
	})
}

// Fail counts a failure. After too many deaths, or at once if it is final, the report fails until a retry.
func (s *sqlite) Fail(t Task, reason string, final bool, deaths int) (dead bool, err error) {
	err = s.change(func(tx *statements) error {
		dead = false
		err := tx.QueryRow(`UPDATE report SET deaths = deaths + 1, reason = ?, state = CASE WHEN ? OR deaths + 1 >= ? THEN 3 ELSE 0 END
			WHERE number = ? AND state = 1 AND lease = ? RETURNING state = 3`, reason, final, deaths, t.Number, t.Lease).Scan(&dead)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return dead, err
}

func (s *sqlite) Retry(by Caller, id string) (found bool, err error) {
	return s.touch(by, didRetry, id, func(tx *statements, key []byte) (int64, error) {
		return rows(tx.Exec("UPDATE report SET state = 0, since = ?, deaths = 0, reason = '' WHERE state >= 2 AND project = ? AND id = ?", s.now(), by.Project, key))
	})
}

func (s *sqlite) Delete(by Caller, id string) (found bool, err error) {
	return s.touch(by, didDelete, id, func(tx *statements, key []byte) (int64, error) {
		return remove(tx, " FROM report WHERE project = ? AND id = ?", by.Project, key)
	})
}

// touch changes one report, if it is there.
func (s *sqlite) touch(by Caller, action, id string, do func(tx *statements, key []byte) (int64, error)) (found bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, nil
	}
	err = s.change(func(tx *statements) error {
		n, err := do(tx, key)
		if found = n > 0; !found || err != nil {
			return err
		}
		return audit(tx, s.now(), by, action, id)
	})
	return found && err == nil, err
}

// remove deletes the reports that match a condition, and all their data.
func remove(tx *statements, which string, values ...any) (int64, error) {
	for _, table := range []string{"uses", "others", "result", "body"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE number IN (SELECT number"+which+")", values...); err != nil {
			return 0, err
		}
	}
	return rows(tx.Exec("DELETE FROM report WHERE number IN (SELECT number"+which+")", values...))
}

// Expire deletes reports that are older than their project's limit.
func (s *sqlite) Expire() (deleted int64, err error) {
	const old = ` FROM report JOIN project ON name = project WHERE keep_days > 0 AND received < ? - keep_days * 86400000`
	err = s.change(func(tx *statements) error {
		now := s.now()
		if err := s.known.forgetUsage(tx); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM usage WHERE day < ?", now/dayMilliseconds-1); err != nil {
			return err
		}
		var err error
		deleted, err = remove(tx, old, now)
		return err
	})
	return deleted, err
}

// Set stores the settings of a project. If redaction changes, old results are deleted and all are computed
// again.
func (s *sqlite) Set(by Caller, set Settings) error {
	project := by.Project
	return s.change(func(tx *statements) error {
		if err := s.known.forgetUsage(tx); err != nil { // it has the quota
			return err
		}
		const redone = `project = ? AND ? <> coalesce((SELECT redact FROM project WHERE name = report.project), 0)`
		_, err := tx.Exec("DELETE FROM result WHERE number IN (SELECT number FROM report WHERE "+redone+")", project, set.Redact)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE report SET state = 0, since = ? WHERE "+redone, s.now(), project, set.Redact); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO project VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET keep_days = excluded.keep_days,
			quota = excluded.quota, redact = excluded.redact`, project, set.KeepDays, set.Quota, set.Redact)
		if err != nil {
			return err
		}
		return audit(tx, s.now(), by, didSet, set.text())
	})
}

func (s *sqlite) Settings(project string) (set Settings, err error) {
	err = s.read.QueryRow("SELECT keep_days, quota, redact FROM project WHERE name = ?", project).Scan(&set.KeepDays, &set.Quota, &set.Redact)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return set, err
}

func (s *sqlite) Get(project, id string) (*Report, error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return nil, nil
	}
	r := Report{ID: id}
	var received int64
	err = s.read.QueryRow("SELECT state, deaths, reason, received, body, answer FROM report JOIN body USING(number) LEFT JOIN result USING(number) WHERE project = ? AND id = ?", project, key).
		Scan(&r.State, &r.Deaths, &r.Reason, &received, &r.Body, &r.Answer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	r.Received = time.UnixMilli(received).UTC()
	return &r, err
}

func (s *sqlite) List(project string, state State, limit int) (list []Report, err error) {
	return allOf(s.read, readReport, "SELECT id, state, deaths, reason, received FROM report WHERE project = ? AND state = ? ORDER BY number DESC LIMIT ?", project, int(state), limit)
}

func (s *sqlite) Grouped(project, group string, limit int) (list []Report, err error) {
	return allOf(s.read, readReport, "SELECT id, state, deaths, reason, received FROM report WHERE project = ? AND grp = ? AND grp <> '' ORDER BY received DESC LIMIT ?", project, group, limit)
}

func (s *sqlite) Groups(project string, limit int) ([]Group, error) {
	return allOf(s.read, readGroup, `SELECT grp, title, count(*) AS many, min(received), max(received) FROM report JOIN grp ON hash = grp
		WHERE project = ? AND grp <> '' GROUP BY grp ORDER BY many DESC, grp LIMIT ?`, project, limit)
}

func (s *sqlite) Missing(project string, limit int) ([]Want, error) {
	return allOf(s.read, readWant, `SELECT uuid, name, count(*) AS many FROM uses JOIN image USING(image) JOIN report USING(number)
		WHERE missing AND project = ? GROUP BY uses.image ORDER BY many DESC, uuid LIMIT ?`, project, limit)
}

func (s *sqlite) Counts() (c Counts, err error) {
	if err = countStates(s.read, &c, "SELECT state, count FROM tally"); err != nil {
		return c, err
	}
	c.Oldest, err = s.oldest()
	return c, err
}

func (s *sqlite) oldest() (time.Duration, error) {
	var age int64
	// no report, or a clock that was set back: 0
	err := s.read.QueryRow("SELECT max(0, ifnull(? - min(since), 0)) FROM report WHERE state < 2", s.now()).Scan(&age)
	return time.Duration(age) * time.Millisecond, err
}

// Improve ends an upload: the store has better symbols of these UUIDs. All reports that use one of them wait
// again.
func (s *sqlite) Improve(upload string, uuids []string) (redone int64, err error) {
	err = s.change(func(tx *statements) error {
		redone, s.known.hasGeneration = 0, false
		if _, err := tx.Exec("UPDATE meta SET generation = generation + 1"); err != nil {
			return err
		}
		others := false
		for _, text := range uuids {
			uuid, err := uuidBytes(text)
			if err != nil {
				continue
			}
			if _, err := tx.Exec(`INSERT INTO symbol SELECT ?, generation FROM meta WHERE true
				ON CONFLICT DO UPDATE SET generation = excluded.generation`, uuid); err != nil {
				return err
			}
			n, err := rows(tx.Exec(`UPDATE report SET state = 0, since = ?, deaths = 0, reason = ''
				WHERE state >= 2 AND number IN (SELECT number FROM uses JOIN image USING(image) WHERE uuid = ?)`, s.now(), uuid))
			if err != nil {
				return err
			}
			redone += n
			var one bool
			err = tx.QueryRow("SELECT others FROM image WHERE uuid = ?", uuid).Scan(&one)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			others = others || one
		}
		if others { // symbols of the system are rare: all reports are searched for them
			n, err := rows(tx.Exec(`UPDATE report SET state = 0, since = ?, deaths = 0, reason = ''
				WHERE state >= 2 AND number IN (SELECT number FROM others, json_each(images) WHERE value IN
				(SELECT image FROM image JOIN symbol USING(uuid) WHERE generation = (SELECT generation FROM meta)))`, s.now()))
			if err != nil {
				return err
			}
			redone += n
		}
		return s.endUpload(tx, upload, uuids)
	})
	return redone, err
}

// endUpload writes to the audit which images it brought. What a source of symbols had is no upload.
func (s *sqlite) endUpload(tx *statements, upload string, uuids []string) error {
	var by Caller
	err := tx.QueryRow("DELETE FROM upload WHERE name = ? RETURNING project, token, address", upload).Scan(&by.Project, &by.Token, &by.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	for _, uuid := range uuids {
		if err == nil {
			err = audit(tx, s.now(), by, didUpload, uuid)
		}
	}
	return err
}

func (s *sqlite) BeginUpload(by Caller, name string) error {
	return s.run(change{grows: true, do: func(tx *statements) error {
		_, err := tx.Exec("INSERT INTO upload VALUES(?,?,?,?) ON CONFLICT DO NOTHING", name, by.Project, by.Token, by.Address)
		return err
	}})
}

func (s *sqlite) Uploads() ([]string, error) { return texts(s.read, "SELECT name FROM upload") }

func (s *sqlite) Generation() (generation int64, err error) {
	err = s.read.QueryRow("SELECT generation FROM meta").Scan(&generation)
	return generation, err
}

func (s *sqlite) AddToken(by Caller, hash string, t Token) error {
	return s.change(func(tx *statements) error {
		n, err := rows(tx.Exec(`INSERT INTO token SELECT ?1, ?2, ?3, ?4
			WHERE NOT EXISTS(SELECT 1 FROM token WHERE project = ?3 AND name = ?4)`, hash, t.Role, t.Project, t.Name))
		if err == nil && n == 0 {
			err = ErrTaken
		}
		if err != nil {
			return err
		}
		return audit(tx, s.now(), by, didToken, t.Role+" "+t.Name)
	})
}

func (s *sqlite) FindToken(hash string) (*Token, error) {
	var t Token
	err := s.read.QueryRow("SELECT role, project, name FROM token WHERE hash = ?", hash).Scan(&t.Role, &t.Project, &t.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &t, err
}

func (s *sqlite) Tokens(project string) ([]Token, error) {
	return allOf(s.read, readToken, "SELECT role, project, name FROM token WHERE project = ? ORDER BY name", project)
}

func (s *sqlite) DeleteToken(by Caller, name string) (found bool, err error) {
	err = s.change(func(tx *statements) error {
		n, err := rows(tx.Exec("DELETE FROM token WHERE project = ? AND name = ?", by.Project, name))
		if found = n > 0; !found || err != nil {
			return err
		}
		return audit(tx, s.now(), by, didRevoke, name)
	})
	return found && err == nil, err
}

func (s *sqlite) HasTokens() (has bool, err error) {
	err = s.read.QueryRow("SELECT EXISTS(SELECT 1 FROM token)").Scan(&has)
	return has, err
}

// audit writes a row in the transaction of a change.
func audit(tx *statements, now int64, by Caller, action, object string) error {
	_, err := tx.Exec("INSERT INTO audit(time, project, token, address, action, object) VALUES(?,?,?,?,?,?)", now, by.Project, by.Token, by.Address, action, object)
	return err
}

func (s *sqlite) Record(by Caller, action, object string) error {
	return s.change(func(tx *statements) error { return audit(tx, s.now(), by, action, object) })
}

func (s *sqlite) Audit(of Span) ([]Event, error) {
	return allOf(s.read, readEvent, `SELECT number, time, token, address, action, object FROM audit WHERE project = ? AND time >= ? AND time < ?
		AND (time, number) < (?, ?) ORDER BY time DESC, number DESC LIMIT ?`, of.Project, of.Since, of.Until, of.Before.time, of.Before.number, of.Limit)
}

// ExpireAudit deletes rows from the oldest on, so that it does not look at all of them.
func (s *sqlite) ExpireAudit(days int) (deleted int64, err error) {
	for n := int64(1); n > 0; {
		err := s.change(func(tx *statements) error {
			n, err = rows(tx.Exec("DELETE FROM audit WHERE number IN (SELECT number FROM audit ORDER BY number LIMIT 5000) AND time < ?",
				s.now()-int64(days)*dayMilliseconds))
			return err
		})
		if err != nil {
			return deleted, err
		}
		deleted += n
	}
	return deleted, nil
}
