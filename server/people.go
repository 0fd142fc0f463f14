package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

// Of people only numbers are kept: what a secret of the database makes of a project and a value. They are found again by the
// value, and the value cannot be found from them without the secret.

func personOf(secret []byte, project, value string) int64 {
	hash := hmac.New(sha256.New, secret)
	hash.Write([]byte(project + "\x00" + value))
	return int64(binary.BigEndian.Uint64(hash.Sum(nil)))
}

// personsOf has each person once.
func personsOf(secret []byte, project string, values []string) []int64 {
	persons := []int64{}
	known := map[string]bool{}
	for _, value := range values {
		if !known[value] {
			persons = append(persons, personOf(secret, project, value))
		}
		known[value] = true
	}
	return persons
}

func hexOf(person int64) string { return strconv.FormatUint(uint64(person), 16) }

// forget deletes all reports of a user in the project.
func (s *server) forget(w http.ResponseWriter, r *http.Request, t *Token) {
	user := strings.TrimSpace(r.URL.Query().Get("user"))
	if user == "" {
		refuse(w, http.StatusBadRequest, "DELETE /reports?user=IDENTIFIER")
		return
	}
	done, err := s.db.Forget(s.callerOf(r, t), user)
	s.pool.Wake()
	s.tell(w, done, err)
}

// noPeople is SQL of reports whose people are not known: they have no result yet, or one of an older program.
const noPeople = " NOT EXISTS(SELECT 1 FROM others WHERE others.number = report.number AND people IS NOT NULL)"

// Forget deletes the reports of a user. All reports of the project are searched.
func (s *sqlite) Forget(by Caller, user string) (done Forgotten, err error) {
	person := personOf(s.secret, by.Project, user)
	err = s.change(func(tx *statements) error {
		now := s.now()
		if _, err := tx.Exec("INSERT INTO forgotten VALUES(?,?,?) ON CONFLICT DO UPDATE SET time = excluded.time", by.Project, person, now); err != nil {
			return err
		}
		s.known.forgotten = nil
		ids, err := idsOf(tx, "SELECT id FROM report JOIN others USING(number) WHERE project = ? AND ? IN (SELECT value FROM json_each(people))", by.Project, person)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE report SET state = 0, since = ?, deaths = 0, reason = '' WHERE state >= 2 AND project = ? AND"+noPeople, now, by.Project); err != nil {
			return err
		}
		done = Forgotten{Deleted: int64(len(ids))}
		if err := tx.QueryRow("SELECT count(*) FROM report WHERE project = ? AND"+noPeople, by.Project).Scan(&done.Waiting); err != nil {
			return err
		}
		if err := audit(tx, now, by, didForget, hexOf(person)); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := remove(tx, " FROM report WHERE project = ? AND id = ?", by.Project, id); err != nil {
				return err
			}
			if err := audit(tx, now, by, didDelete, hex.EncodeToString(id)); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

func idsOf(to querier, statement string, values ...any) (ids [][]byte, err error) {
	return allOf(to, func(scan scan) (id []byte, err error) { return id, scan(&id) }, statement, values...)
}

// isForgotten deletes a report that has got its result, if it came before its user was forgotten.
func (s *sqlite) isForgotten(tx *statements, t Task, persons []int64) (gone bool, err error) {
	if s.known.forgotten == nil {
		s.known.forgotten = map[int64]bool{}
		err := each(tx, func(scan scan) error {
			var person int64
			err := scan(&person)
			s.known.forgotten[person] = true
			return err
		}, "SELECT person FROM forgotten")
		if err != nil {
			return false, err
		}
	}
	for _, person := range persons {
		if !s.known.forgotten[person] {
			continue
		}
		ids, err := idsOf(tx, "SELECT id FROM report JOIN forgotten USING(project) WHERE number = ? AND person = ? AND received <= time", t.Number, person)
		if err != nil {
			return false, err
		}
		if len(ids) == 0 {
			continue
		}
		if _, err := remove(tx, " FROM report WHERE number = ?", t.Number); err != nil {
			return false, err
		}
		return true, audit(tx, s.now(), Caller{Project: t.Project}, didDelete, hex.EncodeToString(ids[0]))
	}
	return false, nil
}

// Forget is that of sqlite. Results that are being stored wait, and see it.
func (p *postgres) Forget(by Caller, user string) (done Forgotten, err error) {
	person := personOf(p.secret, by.Project, user)
	defer p.hasWork()
	err = p.run(longPatience, func(s session) error {
		if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil {
			return err
		}
		if err := s.isOurs(); err != nil {
			return err
		}
		err := s.do("INSERT INTO forgotten VALUES($1, $2, "+p.clock+") ON CONFLICT(project, person) DO UPDATE SET time = excluded.time", by.Project, person)
		if err != nil {
			return err
		}
		if err := p.audit(s, record{by, didForget, hexOf(person)}); err != nil {
			return err
		}
		done.Deleted, err = p.deletePeople(s, by, "report.project = $1 AND $2 = ANY(people)", by.Project, person)
		if err != nil {
			return err
		}
		if _, err := p.again(s, "project = $1 AND"+noPeople, by.Project); err != nil {
			return err
		}
		return s.QueryRow("SELECT count(*) FROM report WHERE project = $1 AND"+noPeople, by.Project).Scan(&done.Waiting)
	})
	return done, err
}

// deletePeople deletes reports by their people.
func (p *postgres) deletePeople(s session, by Caller, which string, values ...any) (int64, error) {
	var numbers []int64
	var all []record
	err := each(s, func(scan scan) error {
		var number int64
		var id []byte
		project := ""
		err := scan(&number, &id, &project)
		numbers = append(numbers, number)
		all = append(all, record{Caller{project, by.Token, by.Address}, didDelete, hex.EncodeToString(id)})
		return err
	}, "SELECT report.number, id, report.project FROM report JOIN others USING(number, leaves) WHERE "+which+" ORDER BY report.number FOR UPDATE OF report", values...)
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	if err := p.audit(s, all...); err != nil {
		return 0, err
	}
	return int64(len(numbers)), deleteAll(s, numbers)
}

// dropForgotten deletes reports that have got their result, and came before their user was forgotten.
func (p *postgres) dropForgotten(s session, all []finished) error {
	numbers := make([]int64, len(all))
	for i, f := range all {
		numbers[i] = f.task.Number
	}
	_, err := p.deletePeople(s, Caller{}, `report.number = ANY($1) AND EXISTS(SELECT 1 FROM forgotten
		WHERE forgotten.project = report.project AND person = ANY(people) AND received <= time)`, pq.Array(numbers))
	return err
}
