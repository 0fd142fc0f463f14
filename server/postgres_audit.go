package main

import "github.com/lib/pq"

// The audit: who did what, a row in the transaction of each change.

// record is a row to be written.
type record struct {
	Caller
	action, object string
}

// audit writes rows in the transaction of a change.
func (p *postgres) audit(s session, all ...record) error {
	columns := make([][]string, 5)
	for _, r := range all {
		for i, value := range []string{r.Project, r.Token, r.Address, r.action, r.object} {
			columns[i] = append(columns[i], plainText(value))
		}
	}
	return s.do(`INSERT INTO audit(time, project, token, address, action, object)
		SELECT `+p.clock+`, x.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS x`,
		pq.Array(columns[0]), pq.Array(columns[1]), pq.Array(columns[2]), pq.Array(columns[3]), pq.Array(columns[4]))
}

func (p *postgres) Record(by Caller, action, object string) error {
	return p.recording.change(record{by, action, object})
}

func (p *postgres) recordAll(all []record) ([]error, error) {
	return make([]error, len(all)), p.change(func(s session) error {
		if err := s.isOurs(); err != nil {
			return err
		}
		return p.audit(s, all...)
	})
}

func (p *postgres) Audit(of Span) (list []Event, err error) {
	err = p.read(func(s session) error {
		list, err = allOf(s, readEvent, `SELECT number, time, token, address, action, object FROM audit WHERE project = $1 AND time >= $2 AND time < $3
			AND (time, number) < ($4, $5) ORDER BY time DESC, number DESC LIMIT $6`, of.Project, of.Since, of.Until, of.Before.time, of.Before.number, of.Limit)
		return err
	})
	return list, err
}

func (p *postgres) ExpireAudit(days int) (deleted int64, err error) {
	err = p.run(longPatience, func(s session) error {
		deleted, err = rows(s.Exec("DELETE FROM audit WHERE time < "+p.clock+" - $1::bigint * 86400000", days))
		return err
	})
	return deleted, err
}
