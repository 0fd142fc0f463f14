package main

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	"net/url"
	"strings"
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
`}

const dayMilliseconds = 86400 * 1000

// Up to this many requests share a commit. A commit waits for the disk, and requests that arrive meanwhile
// are committed together.
const commitTogether = 256

type change struct {
	do    func(*sql.Tx) error
	grows bool // it adds data that can be sent again later, so it is refused while the disk is full
	done  chan error
}

type sqlite struct {
	write, read *sql.DB
	changes     chan change
	ended       chan struct{}
	room        reserve
	shift       time.Duration // added to the clock, for tests
}

// OpenSQLite opens the database in a file. It creates a missing file, and converts an older schema to the
// newest.
func OpenSQLite(path string, shift time.Duration) (Database, error) {
	const options = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_foreign_keys=off"
	file := (&url.URL{Scheme: "file", Path: path}).String() // a folder's name may contain a question mark
	write, err := sql.Open("sqlite3", file+options)
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite3", file+options+"&_query_only=on")
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(8)
	s := &sqlite{write, read, make(chan change, commitTogether), make(chan struct{}), reserve{path: path + "-reserve"}, shift}
	if err := s.migrate(); err != nil {
		return nil, err
	}
	if _, err := write.Exec(fmt.Sprintf("PRAGMA journal_size_limit = %d", reserveBytes/2)); err != nil {
		return nil, err
	}
	s.room.given = !s.room.make()
	go s.commitAll()
	return s, nil
}

func (s *sqlite) migrate() error {
	tx, err := s.write.Begin()
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
	for first := range s.changes {
		if s.room.due() {
			s.room.given = !s.room.make() && !s.hollow()
		}
		together := []change{first}
		for len(together) < s.most() && len(s.changes) > 0 {
			together = append(together, <-s.changes)
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
	results := make([]error, len(together))
	err := s.commit(together, results)
	if isFull(err) {
		s.room.give()
		s.emptyJournal()
		err = s.commit(together, results)
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
func (s *sqlite) emptyJournal() { s.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)") }

// commit runs changes in one transaction. A failed change is undone alone, and the others are kept.
func (s *sqlite) commit(together []change, results []error) error {
	tx, err := s.write.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i, c := range together {
		if s.room.given && c.grows {
			results[i] = ErrFull
			continue
		}
		if _, err := tx.Exec("SAVEPOINT one"); err != nil {
			return err
		}
		if results[i] = c.do(tx); isFull(results[i]) {
			return results[i] // SQLite may have undone all changes
		}
		if results[i] != nil {
			if _, err := tx.Exec("ROLLBACK TO one"); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("RELEASE one"); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *sqlite) change(do func(*sql.Tx) error) error { return s.run(change{do: do}) }

func (s *sqlite) run(c change) error {
	c.done = make(chan error, 1)
	s.changes <- c
	return <-c.done
}

func (s *sqlite) now() int64 { return time.Now().Add(s.shift).UnixMilli() }

func (s *sqlite) Close() error {
	close(s.changes)
	<-s.ended
	s.read.Close()
	return s.write.Close()
}

func (s *sqlite) Add(project, id string, body []byte) (added bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, err
	}
	packed, now := pack(body), s.now()
	err = s.run(change{grows: true, do: func(tx *sql.Tx) error {
		n, err := rows(tx.Exec("INSERT INTO report(project, id, received, since, body) VALUES(?,?,?,?,?) ON CONFLICT DO NOTHING",
			project, key, now, now, packed))
		added = n > 0
		if err != nil || !added {
			return err
		}
		return countUse(tx, project, now/dayMilliseconds)
	}})
	return added && err == nil, err
}

// countUse counts a new report of a project. Over the quota it returns an error, and the report is not added.
func countUse(tx *sql.Tx, project string, day int64) error {
	var over bool
	err := tx.QueryRow(`INSERT INTO usage VALUES(?,?,1) ON CONFLICT DO UPDATE SET count = count + 1
		RETURNING count > coalesce((SELECT quota FROM project WHERE name = usage.project AND quota > 0), count)`, project, day).Scan(&over)
	if err == nil && over {
		err = ErrQuota
	}
	return err
}

// Take leases up to count reports. Each project with waiting reports gets the same number, so that no project
// delays the others.
func (s *sqlite) Take(count int, lease time.Duration) (tasks []Task, err error) {
	idle, err := s.nothingToDo()
	if idle || err != nil {
		return nil, err
	}
	err = s.change(func(tx *sql.Tx) error {
		tasks = nil
		now := s.now()
		if _, err := tx.Exec("UPDATE report SET state = 0 WHERE state = 1 AND until < ?", now); err != nil {
			return err
		}
		projects, err := texts(tx, "SELECT DISTINCT project FROM report WHERE state = 0 ORDER BY random()")
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

func takeOf(tx *sql.Tx, project string, count int, until int64, tasks *[]Task) error {
	var generation int64
	var redact bool
	err := tx.QueryRow("SELECT generation, coalesce((SELECT redact FROM project WHERE name = ?), 0) FROM meta", project).
		Scan(&generation, &redact)
	if err != nil {
		return err
	}
	return each(tx, func(scan scan) error {
		t := Task{Generation: generation, Project: project, Redact: redact}
		var packed []byte
		if err := scan(&t.Number, &t.Lease, &packed); err != nil {
			return err
		}
		if t.Body, err = unpack(packed); err != nil {
			return err
		}
		*tasks = append(*tasks, t)
		return nil
	}, `UPDATE report SET state = 1, lease = ?, until = ? WHERE number IN (SELECT number FROM report
		WHERE state = 0 AND project = ? ORDER BY number LIMIT ?) RETURNING number, lease, body`, rand.Int63(), until, project, count)
}

// Release ends all leases. Only the program that works on the reports may call it, at its start.
func (s *sqlite) Release() error {
	return s.change(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE report SET state = 0 WHERE state = 1")
		return err
	})
}

// Finish stores a result, its group and the images that it uses. If better symbols of one of these came since
// the worker began, the report waits again. If the lease has ended, the result is dropped, because another
// worker has the report.
func (s *sqlite) Finish(t Task, r Result) error {
	return s.change(func(tx *sql.Tx) error {
		n, err := rows(tx.Exec("UPDATE report SET state = 2, grp = ?, deaths = 0, reason = '' WHERE number = ? AND state = 1 AND lease = ?",
			r.Group, t.Number, t.Lease))
		if err != nil || n == 0 {
			return err
		}
		if _, err := tx.Exec("REPLACE INTO result VALUES(?,?)", t.Number, r.Answer); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO grp VALUES(?,?) ON CONFLICT DO NOTHING", r.Group, r.Title); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM uses WHERE number = ?", t.Number); err != nil {
			return err
		}
		if err := keepUses(tx, t.Number, r.Images); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE report SET state = 0 WHERE number = ? AND EXISTS(SELECT 1 FROM uses JOIN image USING(image)
			JOIN symbol USING(uuid) WHERE uses.number = report.number AND symbol.generation > ?)`, t.Number, r.Generation)
		return err
	})
}

// Images that one statement stores. Each needs four values, and SQLite allows 32,766. Preparing a statement
// costs more than running it, so there is not one for each image.
const usesTogether = 200

// keepUses stores the images of a report, each once. Symbols for an image without a UUID are never uploaded.
func keepUses(tx *sql.Tx, number int64, images []Use) error {
	missing := map[string]bool{}
	var uuids, names []any
	for _, use := range images {
		uuid, err := uuidBytes(use.UUID)
		if err != nil {
			continue
		}
		if _, known := missing[string(uuid)]; !known {
			uuids, names = append(uuids, uuid), append(names, use.Name)
		}
		missing[string(uuid)] = missing[string(uuid)] || use.Missing
	}
	for from := 0; from < len(uuids); from += usesTogether {
		to := from + usesTogether
		if to > len(uuids) {
			to = len(uuids)
		}
		var named, used []any
		for i := from; i < to; i++ {
			named = append(named, uuids[i], names[i])
			used = append(used, uuids[i], missing[string(uuids[i].([]byte))])
		}
		pairs := "VALUES (?,?)" + strings.Repeat(",(?,?)", to-from-1)
		if _, err := tx.Exec("INSERT INTO image(uuid, name) "+pairs+" ON CONFLICT DO NOTHING", named...); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO uses SELECT ?, image, column2 FROM ("+pairs+") JOIN image ON uuid = column1",
			append([]any{number}, used...)...); err != nil {
			return err
		}
	}
	return nil
}

// Fail counts a failure. After too many deaths, or at once if it is final, the report fails until a retry.
func (s *sqlite) Fail(t Task, reason string, final bool, deaths int) (dead bool, err error) {
	err = s.change(func(tx *sql.Tx) error {
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

func (s *sqlite) Retry(project, id string) (found bool, err error) {
	return s.touch("UPDATE report SET state = 0, since = ?, deaths = 0, reason = '' WHERE state >= 2 AND project = ? AND id = ?", project, id)
}

func (s *sqlite) Delete(project, id string) (found bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, nil
	}
	err = s.change(func(tx *sql.Tx) error {
		n, err := remove(tx, " FROM report WHERE project = ? AND id = ?", project, key)
		found = n > 0
		return err
	})
	return found, err
}

// remove deletes the reports that match a condition, and all their data.
func remove(tx *sql.Tx, which string, values ...any) (int64, error) {
	for _, table := range []string{"uses", "result"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE number IN (SELECT number"+which+")", values...); err != nil {
			return 0, err
		}
	}
	return rows(tx.Exec("DELETE FROM report WHERE number IN (SELECT number"+which+")", values...))
}

// Expire deletes reports that are older than their project's limit.
func (s *sqlite) Expire() (deleted int64, err error) {
	const old = ` FROM report JOIN project ON name = project WHERE keep_days > 0 AND received < ? - keep_days * 86400000`
	err = s.change(func(tx *sql.Tx) error {
		now := s.now()
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
func (s *sqlite) Set(project string, set Settings) error {
	return s.change(func(tx *sql.Tx) error {
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
		return err
	})
}

func (s *sqlite) Settings(project string) (set Settings, err error) {
	err = s.read.QueryRow("SELECT keep_days, quota, redact FROM project WHERE name = ?", project).Scan(&set.KeepDays, &set.Quota, &set.Redact)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return set, err
}

func (s *sqlite) touch(statement, project, id string) (found bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, nil
	}
	err = s.change(func(tx *sql.Tx) error {
		n, err := rows(tx.Exec(statement, s.now(), project, key))
		found = n > 0
		return err
	})
	return found, err
}

func (s *sqlite) Get(project, id string) (*Report, error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return nil, nil
	}
	r := Report{ID: id}
	var received int64
	err = s.read.QueryRow("SELECT state, deaths, reason, received, body, answer FROM report LEFT JOIN result USING(number) WHERE project = ? AND id = ?", project, key).
		Scan(&r.State, &r.Deaths, &r.Reason, &received, &r.Body, &r.Answer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	r.Received = time.UnixMilli(received).UTC()
	return &r, err
}

func (s *sqlite) List(project string, state State, limit int) (list []Report, err error) {
	err = each(s.read, func(scan scan) error {
		r := Report{State: state}
		var key []byte
		var received int64
		err := scan(&key, &r.Deaths, &r.Reason, &received)
		r.ID, r.Received = hex.EncodeToString(key), time.UnixMilli(received).UTC()
		list = append(list, r)
		return err
	}, "SELECT id, deaths, reason, received FROM report WHERE project = ? AND state = ? ORDER BY number DESC LIMIT ?", project, int(state), limit)
	return list, err
}

func (s *sqlite) Groups(project string, limit int) ([]Group, error) {
	list := []Group{}
	err := each(s.read, func(scan scan) error {
		var g Group
		var first, last int64
		err := scan(&g.Hash, &g.Title, &g.Count, &first, &last)
		g.First, g.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		list = append(list, g)
		return err
	}, `SELECT grp, title, count(*) AS many, min(received), max(received) FROM report JOIN grp ON hash = grp
		WHERE project = ? AND grp <> '' GROUP BY grp ORDER BY many DESC, grp LIMIT ?`, project, limit)
	return list, err
}

func (s *sqlite) Missing(project string, limit int) ([]Want, error) {
	list := []Want{}
	err := each(s.read, func(scan scan) error {
		var w Want
		var uuid []byte
		if err := scan(&uuid, &w.Name, &w.Reports); err != nil {
			return err
		}
		w.UUID = uuidText(uuid)
		list = append(list, w)
		return nil
	}, `SELECT uuid, name, count(*) AS many FROM uses JOIN image USING(image) JOIN report USING(number)
		WHERE missing AND project = ? GROUP BY uses.image ORDER BY many DESC, uuid LIMIT ?`, project, limit)
	return list, err
}

func (s *sqlite) Counts() (c Counts, err error) {
	err = each(s.read, func(scan scan) error {
		var state State
		var count int
		err := scan(&state, &count)
		c.States[state] = count
		return err
	}, "SELECT state, count(*) FROM report GROUP BY state")
	if err != nil {
		return c, err
	}
	c.Oldest, err = s.oldest()
	return c, err
}

func (s *sqlite) oldest() (time.Duration, error) {
	var since sql.NullInt64
	err := s.read.QueryRow("SELECT min(since) FROM report WHERE state < 2").Scan(&since)
	if err != nil || !since.Valid {
		return 0, err
	}
	return time.Duration(s.now()-since.Int64) * time.Millisecond, nil
}

// Improve ends an upload: the store has better symbols of these UUIDs. All reports that use one of them wait
// again.
func (s *sqlite) Improve(upload string, uuids []string) (redone int64, err error) {
	err = s.change(func(tx *sql.Tx) error {
		redone = 0
		if _, err := tx.Exec("UPDATE meta SET generation = generation + 1"); err != nil {
			return err
		}
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
		}
		_, err := tx.Exec("DELETE FROM upload WHERE name = ?", upload)
		return err
	})
	return redone, err
}

func (s *sqlite) BeginUpload(name string) error {
	return s.run(change{grows: true, do: func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO upload VALUES(?) ON CONFLICT DO NOTHING", name)
		return err
	}})
}

func (s *sqlite) Uploads() ([]string, error) { return texts(s.read, "SELECT name FROM upload") }

func (s *sqlite) Generation() (generation int64, err error) {
	err = s.read.QueryRow("SELECT generation FROM meta").Scan(&generation)
	return generation, err
}

func (s *sqlite) AddToken(hash string, t Token) error {
	return s.change(func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO token VALUES(?,?,?)", hash, t.Role, t.Project)
		return err
	})
}

func (s *sqlite) FindToken(hash string) (*Token, error) {
	var t Token
	err := s.read.QueryRow("SELECT role, project FROM token WHERE hash = ?", hash).Scan(&t.Role, &t.Project)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &t, err
}

func (s *sqlite) HasTokens() (has bool, err error) {
	err = s.read.QueryRow("SELECT EXISTS(SELECT 1 FROM token)").Scan(&has)
	return has, err
}

func rows(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// querier is the database, or a transaction.
type querier interface {
	Query(statement string, values ...any) (*sql.Rows, error)
}

// scan puts the columns of a row into variables.
type scan = func(into ...any) error

// each calls take for every row of a result.
func each(to querier, take func(scan) error, statement string, values ...any) error {
	found, err := to.Query(statement, values...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := take(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}

func texts(from querier, statement string) (list []string, err error) {
	err = each(from, func(scan scan) error {
		var text string
		err := scan(&text)
		list = append(list, text)
		return err
	}, statement)
	return list, err
}

func uuidBytes(text string) ([]byte, error) {
	uuid, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err == nil && len(uuid) != 16 {
		err = errors.New("a UUID has 16 bytes")
	}
	return uuid, err
}

func uuidText(u []byte) string {
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
}
