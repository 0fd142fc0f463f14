package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/lib/pq"
)

// The tables with most of the bytes have a part for each day on which reports leave, and one for those that stay. A day that is over
// is dropped as a whole, which takes no time and gives its room back at once.
var dayTables = []string{"body", "result", "uses", "others"}

// The day of reports that stay.
const never = "2147483647"

// errDays says that tables of days have to be made.
var errDays = errors.New("a day has no tables yet")

// unknownDays are days whose tables this server has not seen.
func (p *postgres) unknownDays(of map[string]rules) (days []int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, rule := range of {
		if strconv.FormatInt(rule.leaves, 10) != never && !p.days[rule.leaves] {
			days = append(days, rule.leaves)
		}
	}
	return days
}

// makeDays makes the tables of days, one a transaction. A client that waits for a table then holds no other one.
func (p *postgres) makeDays(days []int64) error {
	for _, day := range days {
		for _, table := range dayTables {
			err := p.change(func(s session) error {
				if err := s.isOurs(); err != nil {
					return err
				}
				if err := s.do("SELECT pg_advisory_xact_lock($1)", lockSchema); err != nil {
					return err
				}
				return s.do(fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s_%d PARTITION OF %s FOR VALUES IN (%d)", table, day, table, day))
			})
			if err != nil {
				return err
			}
		}
		p.lock.Lock()
		p.days[day] = true
		p.lock.Unlock()
	}
	return nil
}

// Expire deletes reports that are older than their project's limit. Those that came under this limit leave with their day, at the end
// of it. Others are searched for.
func (p *postgres) Expire() (deleted int64, err error) {
	if err := p.run(longPatience, func(s session) error { return s.do("DELETE FROM usage WHERE day < " + p.clock + " / 86400000 - 1") }); err != nil {
		return 0, err
	}
	err = p.run(longPatience, func(s session) error {
		deleted, err = p.expireMoved(s)
		return err
	})
	if err != nil {
		return 0, err
	}
	days, err := p.daysOver()
	for _, day := range days {
		if err != nil {
			break
		}
		var n int64
		n, err = p.dropDay(day)
		deleted += n
	}
	return deleted, err
}

// expireMoved deletes reports whose project got its limit, or a shorter one, after they came.
func (p *postgres) expireMoved(s session) (int64, error) {
	var numbers []int64
	err := s.QueryRow(`SELECT array_agg(number) FROM (SELECT number FROM report JOIN project ON name = project WHERE keep_days > 0
		AND received < ` + p.clock + ` - least(keep_days, 1000000) * 86400000 AND leaves > received / 86400000 + least(keep_days, 1000000)
		ORDER BY number FOR UPDATE OF report) AS x`).Scan(pq.Array(&numbers))
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	return int64(len(numbers)), deleteAll(s, numbers)
}

// deleteAll deletes the rows of reports in all tables. Work goes first: a result that is being stored has its row.
func deleteAll(s session, numbers []int64) error {
	for _, table := range append([]string{"work", "report"}, dayTables...) {
		if err := s.do("DELETE FROM "+table+" WHERE number = ANY($1)", pq.Array(numbers)); err != nil {
			return err
		}
	}
	return s.do("UPDATE tally SET reports = reports - $1 WHERE slot = 0", len(numbers))
}

// daysOver are the days before today that have tables.
func (p *postgres) daysOver() (days []int64, err error) {
	err = p.read(func(s session) error {
		return each(s, func(scan scan) error {
			var day int64
			err := scan(&day)
			days = append(days, day)
			return err
		}, `SELECT DISTINCT substring(relname FROM '_([0-9]+)$')::bigint AS day FROM pg_inherits JOIN pg_class ON oid = inhrelid
			WHERE inhparent = ANY(ARRAY['body'::regclass, 'result', 'uses', 'others']) AND relname ~ '_[0-9]+$'
			AND substring(relname FROM '_([0-9]+)$')::bigint < `+p.clock+` / 86400000 ORDER BY day`)
	})
	return days, err
}

// dropDay moves what stays longer, because its project's limit was changed, and drops the rest.
func (p *postgres) dropDay(day int64) (deleted int64, err error) {
	const longer = `SELECT name, CASE WHEN keep_days > 0 THEN keep_days ELSE 1000000 END AS days FROM project`
	if err := p.stay(day, longer); err != nil {
		return 0, err
	}
	err = p.run(longPatience, func(s session) error {
		if err := s.do("DELETE FROM work WHERE leaves = $1", day); err != nil {
			return err
		}
		deleted, err = rows(s.Exec("DELETE FROM report WHERE leaves = $1", day))
		if err != nil {
			return err
		}
		return s.do("UPDATE tally SET reports = reports - $1 WHERE slot = 0", deleted)
	})
	for _, table := range dayTables {
		if err == nil {
			err = p.change(func(s session) error { return s.do(fmt.Sprintf("DROP TABLE IF EXISTS %s_%d", table, day)) })
		}
	}
	return deleted, err
}

// stay moves reports of a day that its project keeps longer by now to those that stay. expireMoved deletes them in time.
func (p *postgres) stay(day int64, longer string) error {
	return p.run(longPatience, func(s session) error {
		if err := s.do("SELECT pg_advisory_xact_lock($1)", lockRules); err != nil { // no result comes meanwhile
			return err
		}
		var numbers []int64
		err := s.QueryRow(`SELECT array_agg(number) FROM report LEFT JOIN (`+longer+`) AS x ON name = project WHERE leaves = $1
			AND received >= `+p.clock+` - least(coalesce(days, 1000000), 1000000) * 86400000`, day).Scan(pq.Array(&numbers))
		if err != nil || len(numbers) == 0 {
			return err
		}
		for _, table := range append([]string{"report", "work"}, dayTables...) {
			if err := s.do("UPDATE "+table+" SET leaves = "+never+" WHERE leaves = $1 AND number = ANY($2)", day, pq.Array(numbers)); err != nil {
				return err
			}
		}
		return nil
	})
}
