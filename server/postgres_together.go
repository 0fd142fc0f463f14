package main

import (
	"bytes"
	"encoding/hex"
	mathrand "math/rand"
	"sort"
	"strconv"
	"time"

	"github.com/lib/pq"
)

// Bytes of reports or results in a transaction, about. PostgreSQL has them in memory.
const mostTogether = 4 << 20

// together lets changes of one kind share a transaction: those that come while one commits are done in the next. That takes
// PostgreSQL a fraction of the time, because one statement does all of them.
type together[T any] struct {
	do    func([]T) ([]error, error) // the errors of each, or one of all
	size  func(T) int
	waits chan asked[T]
}

type asked[T any] struct {
	it   T
	done chan error
}

func newTogether[T any](ended chan struct{}, size func(T) int, do func([]T) ([]error, error)) *together[T] {
	t := &together[T]{do, size, make(chan asked[T], commitTogether)}
	go t.run(ended)
	return t
}

// change returns after the commit.
func (t *together[T]) change(it T) error {
	one := asked[T]{it, make(chan error, 1)}
	t.waits <- one
	return <-one.done
}

// run ends with the database. What waits then is told so.
func (t *together[T]) run(ended chan struct{}) {
	var last time.Time
	for {
		select {
		case first := <-t.waits:
			time.Sleep(commitPause - time.Since(last))
			all, bytes := []asked[T]{first}, t.size(first.it)
			for len(all) < commitTogether && bytes < mostTogether && len(t.waits) > 0 {
				next := <-t.waits
				all, bytes = append(all, next), bytes+t.size(next.it)
			}
			last = time.Time{}
			if len(all) >= commitShared {
				last = time.Now()
			}
			t.commit(all)
		case <-ended:
			for {
				t.refuse(<-t.waits)
			}
		}
	}
}

func (t *together[T]) refuse(one asked[T]) { one.done <- away{errClosed} }

// commit does all in one transaction. If that fails because of one of them, each has its own.
func (t *together[T]) commit(all []asked[T]) {
	its := make([]T, len(all))
	for i, one := range all {
		its[i] = one.it
	}
	each, err := t.do(its)
	if err != nil && len(all) > 1 && !isAway(err) {
		for i := range all {
			t.commit(all[i : i+1])
		}
		return
	}
	for i, one := range all {
		if err != nil {
			one.done <- err
		} else {
			one.done <- each[i]
		}
	}
}

// addition is a report to be added.
type addition struct {
	Caller
	id     string // bytes of the SHA-256
	packed []byte
	lease  time.Duration // 0: it waits
	task   *Task         // without a number: it was there
}

func (p *postgres) Add(by Caller, id string, body []byte) (added bool, err error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return false, err
	}
	var task Task
	err = p.adding.change(addition{by, string(key), pack(body), 0, &task})
	if err == nil && task.Number > 0 {
		p.hasWork()
	}
	return task.Number > 0 && err == nil, err
}

func (p *postgres) AddLeased(by Caller, id string, body []byte, lease time.Duration) (*Task, error) {
	key, err := hex.DecodeString(id)
	if err != nil {
		return nil, err
	}
	task := &Task{Lease: mathrand.Int63(), Project: by.Project}
	if err = p.adding.change(addition{by, string(key), pack(body), lease, task}); err != nil {
		p.doubt(task.Lease)
	}
	if err != nil || task.Number == 0 {
		return nil, err
	}
	return task, nil
}

type reportKey struct{ project, id string }

// addAll adds reports. All servers add them in the same order, and so none waits for one that waits for it.
func (p *postgres) addAll(all []addition) (errs []error, err error) {
	first := map[reportKey]int{} // of equal ones only one is new
	for i, a := range all {
		if _, twice := first[reportKey{a.Project, a.id}]; !twice {
			first[reportKey{a.Project, a.id}] = i
		}
	}
	order := make([]int, 0, len(first))
	for _, i := range first {
		order = append(order, i)
	}
	sort.Slice(order, func(i, j int) bool {
		a, b := all[order[i]], all[order[j]]
		return a.Project < b.Project || a.Project == b.Project && a.id < b.id
	})
	errs = make([]error, len(all))
	for {
		var unknown []int64
		err = p.change(func(s session) error {
			for i := range all {
				all[i].task.Number, errs[i] = 0, nil
			}
			if err := beginAdding(s, all); err != nil {
				return err
			}
			rules, err := rulesOf(s, p.clock, projectsOf(all))
			if err != nil {
				return err
			}
			if unknown = p.unknownDays(rules); len(unknown) > 0 {
				return errDays
			}
			return p.insert(s, all, order, rules, errs)
		})
		if err != errDays {
			return errs, err
		}
		if err := p.makeDays(unknown); err != nil {
			return nil, err
		}
	}
}

func projectsOf(all []addition) (list []string) {
	known := map[string]bool{}
	for _, a := range all {
		if !known[a.Project] {
			list = append(list, a.Project)
		}
		known[a.Project] = true
	}
	sort.Strings(list)
	return list
}

// beginAdding lets no settings change if they go with a task.
func beginAdding(s session, all []addition) error {
	for _, a := range all {
		if a.lease > 0 {
			return s.shareRules()
		}
	}
	return s.isOurs()
}

// rules are what a project's settings mean for new reports.
type rules struct {
	quota, leaves, generation int64
	redact                    bool
}

func rulesOf(s session, clock string, projects []string) (map[string]rules, error) {
	known := map[string]rules{}
	return known, each(s, func(scan scan) error {
		var project string
		var of rules
		err := scan(&project, &of.quota, &of.leaves, &of.redact, &of.generation)
		known[project] = of
		return err
	}, `SELECT asked, coalesce(quota, 0), CASE WHEN keep_days > 0 THEN least(`+clock+` / 86400000 + least(keep_days, 1000000), `+never+`) ELSE `+never+` END,
		coalesce(redact, false), (SELECT generation FROM meta) FROM unnest($1::text[]) AS asked LEFT JOIN project ON name = asked`, pq.Array(projects))
}

// insert adds reports in order. With a quota one row of usage counts, and is locked first, so that no two reports are the last one.
func (p *postgres) insert(s session, all []addition, order []int, of map[string]rules, errs []error) error {
	left := map[string]int64{}
	for _, project := range projectsOf(all) {
		if of[project].quota > 0 {
			count, err := p.used(s, project)
			if err != nil {
				return err
			}
			left[project] = of[project].quota - count
		}
	}
	var projects, tokens, addresses []string
	var leaves, begins, sizes, leases, terms []int64
	var ids, bodies bytes.Buffer
	for _, i := range order {
		a := all[i]
		projects, leaves = append(projects, a.Project), append(leaves, of[a.Project].leaves)
		tokens, addresses = append(tokens, plainText(a.Token)), append(addresses, a.Address)
		begins, sizes = append(begins, int64(bodies.Len()+1)), append(sizes, int64(len(a.packed)))
		leases, terms = append(leases, a.task.Lease), append(terms, a.lease.Milliseconds())
		ids.WriteString(a.id)
		bodies.Write(a.packed)
	}
	at := make(map[reportKey]int, len(order))
	for _, i := range order {
		at[reportKey{all[i].Project, all[i].id}] = i
	}
	counts := map[string]int64{}
	over := false
	err := each(s, func(scan scan) error {
		var project string
		var id []byte
		var number int64
		err := scan(&project, &id, &number)
		counts[project]++
		task := all[at[reportKey{project, string(id)}]].task
		task.Number, task.Generation, task.Redact = number, of[project].generation, of[project].redact
		over = over || of[project].quota > 0 && counts[project] > left[project]
		return err
	}, `WITH came AS MATERIALIZED (SELECT project, leaves, substr($1::bytea, nr::int * 32 - 31, 32) AS id, at, size, token, address, lease, term
			FROM unnest($2::text[], $3::integer[], $4::integer[], $5::integer[], $8::text[], $9::text[], $10::bigint[], $11::bigint[])
				WITH ORDINALITY AS x(project, leaves, at, size, token, address, lease, term, nr)),
		now AS MATERIALIZED (SELECT `+p.clock+` AS at),
		made AS (INSERT INTO report(project, id, received, leaves) SELECT project, id, now.at, leaves FROM came, now
			ON CONFLICT DO NOTHING RETURNING number, project, id, received, leaves),
		waits AS (INSERT INTO work(number, project, leaves, since, again, lease, holder, until) SELECT number, project, made.leaves, received, false,
			lease, CASE lease WHEN 0 THEN '' ELSE $12 END, CASE lease WHEN 0 THEN 0 ELSE received + term END FROM made JOIN came USING(project, id)),
		told AS (INSERT INTO audit(time, project, token, address, action, object)
			SELECT received, project, token, address, '`+didSend+`', encode(id, 'hex') FROM made JOIN came USING(project, id)),
		counted AS (UPDATE tally SET reports = reports + (SELECT count(*) FROM made) WHERE slot = $6),
		kept AS (INSERT INTO body SELECT number, made.leaves, substr($7::bytea, at, size) FROM made JOIN came USING(project, id))
		SELECT project, id, number FROM made`,
		ids.Bytes(), pq.Array(projects), pq.Array(leaves), pq.Array(begins), pq.Array(sizes), mathrand.Intn(tallySlots), bodies.Bytes(), pq.Array(tokens), pq.Array(addresses), pq.Array(leases), pq.Array(terms), p.holder)
	if err != nil {
		return err
	}
	if over {
		if len(all) == 1 {
			return ErrQuota
		}
		return errOver // each by itself
	}
	return p.countUses(s, counts, of)
}

// used locks the row that counts a project's new reports of today, and returns the count.
func (p *postgres) used(s session, project string) (count int64, err error) {
	today := p.clock + " / 86400000"
	if err := s.do("INSERT INTO usage VALUES($1, "+today+", 0, 0) ON CONFLICT(project, day, slot) DO UPDATE SET count = usage.count", project); err != nil {
		return 0, err
	}
	err = s.QueryRow("SELECT sum(count) FROM usage WHERE project = $1 AND day = "+today, project).Scan(&count)
	return count, err
}

// countUses counts new reports of projects.
func (p *postgres) countUses(s session, counts map[string]int64, of map[string]rules) error {
	var projects []string
	for project := range counts {
		projects = append(projects, project)
	}
	if len(projects) == 0 {
		return nil
	}
	sort.Strings(projects)
	slots, numbers := make([]int64, len(projects)), make([]int64, len(projects))
	for i, project := range projects {
		if of[project].quota <= 0 {
			slots[i] = int64(mathrand.Intn(usageSlots))
		}
		numbers[i] = counts[project]
	}
	return s.do(`INSERT INTO usage SELECT project, `+p.clock+` / 86400000, slot, count FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS x(project, slot, count)
		ON CONFLICT(project, day, slot) DO UPDATE SET count = usage.count + excluded.count`, pq.Array(projects), pq.Array(slots), pq.Array(numbers))
}

// finished is a result to be stored, with the numbers of its images.
type finished struct {
	task   Task
	result Result
	used   usedImages
}

// Finish stores a result, its group and the images that it uses.
func (p *postgres) Finish(t Task, r Result) error {
	used, err := p.imagesOf(r.Images)
	if err == nil {
		err = p.finishing.change(finished{t, r, used})
	}
	if err != nil { // another database may answer now, which lacks an image
		p.forget()
	}
	return err
}

func (p *postgres) forget() {
	p.lock.Lock()
	p.images, p.groups = nil, nil
	p.lock.Unlock()
}

func (p *postgres) finishAll(all []finished) ([]error, error) {
	return make([]error, len(all)), p.change(func(s session) error { return p.finish(s, all) })
}

// held is the row of work that a result ends.
type held struct{ leaves, generation int64 }

// finish stores the results whose leases hold. The lock shared with Improve makes one of both see what the other one did.
func (p *postgres) finish(s session, all []finished) error {
	if err := s.shareRules(); err != nil {
		return err
	}
	if err := p.keepGroups(s, all); err != nil {
		return err
	}
	kept, err := keepAnswers(s, all)
	if err != nil {
		return err
	}
	if err := p.keepUses(s, all, kept); err != nil {
		return err
	}
	if err := p.dropForgotten(s, all); err != nil {
		return err
	}
	for _, f := range all {
		if of, ok := kept[f.task.Number]; ok && of.generation > f.result.Generation {
			err := s.do(`INSERT INTO work(number, project, leaves, since, again) SELECT number, project, leaves, received, true FROM report
				WHERE number = $1 AND EXISTS(SELECT 1 FROM symbol JOIN image USING(uuid) WHERE generation > $2 AND image = ANY($3))`,
				f.task.Number, f.result.Generation, pq.Array(f.used.all))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// keepAnswers returns which results were kept.
func keepAnswers(s session, all []finished) (map[int64]held, error) {
	var numbers, leases, begins, sizes []int64
	var groups []string
	var answers bytes.Buffer
	for _, f := range all {
		numbers, leases, groups = append(numbers, f.task.Number), append(leases, f.task.Lease), append(groups, plainText(f.result.Group))
		begins, sizes = append(begins, int64(answers.Len()+1)), append(sizes, int64(len(f.result.Answer)))
		answers.Write(f.result.Answer)
	}
	kept := map[int64]held{}
	return kept, each(s, func(scan scan) error {
		var number int64
		var of held
		err := scan(&number, &of.leaves, &of.generation)
		kept[number] = of
		return err
	}, `WITH came AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::integer[]) AS x(number, lease, grp, at, size)),
		held AS (DELETE FROM work USING came WHERE work.number = came.number AND work.lease = came.lease RETURNING work.number, work.leaves),
		cleared AS (UPDATE report SET deaths = 0, reason = '' FROM held WHERE report.number = held.number AND (deaths > 0 OR reason <> ''))
		INSERT INTO result(number, leaves, project, grp, received, answer)
			SELECT held.number, held.leaves, project, grp, received, substr($6::bytea, at, size) FROM held JOIN came USING(number) JOIN report USING(number)
			ON CONFLICT(number, leaves) DO UPDATE SET grp = excluded.grp, answer = excluded.answer
			RETURNING number, leaves, (SELECT generation FROM meta)`,
		pq.Array(numbers), pq.Array(leases), pq.Array(groups), pq.Array(begins), pq.Array(sizes), answers.Bytes())
}

// keepGroups stores the titles of groups that this server has not seen, all servers in the same order.
func (p *postgres) keepGroups(s session, all []finished) error {
	fresh := map[string]string{}
	p.lock.Lock()
	for _, f := range all {
		if group := plainText(f.result.Group); !p.groups[group] {
			fresh[group] = plainText(f.result.Title)
		}
	}
	p.lock.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	var hashes, titles []string
	for hash := range fresh {
		hashes = append(hashes, hash)
	}
	sort.Strings(hashes)
	for _, hash := range hashes {
		titles = append(titles, fresh[hash])
	}
	if err := s.do("INSERT INTO grp SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING", pq.Array(hashes), pq.Array(titles)); err != nil {
		return err
	}
	s.after = append(s.after, func() { p.rememberGroups(hashes) })
	return nil
}

func (p *postgres) rememberGroups(hashes []string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.groups == nil || len(p.groups) >= mostKnown {
		p.groups = map[string]bool{}
	}
	for _, hash := range hashes {
		p.groups[hash] = true
	}
}

func (p *postgres) keepUses(s session, all []finished, kept map[int64]held) error {
	var again, numbers, leaves, images, withOthers, theirLeaves []int64
	var missing []bool
	var others, people []string
	for _, f := range all {
		number := f.task.Number
		of, ok := kept[number]
		if !ok {
			continue
		}
		if f.task.Again {
			again = append(again, number)
		}
		for i, image := range f.used.images {
			numbers, leaves = append(numbers, number), append(leaves, of.leaves)
			images, missing = append(images, image), append(missing, f.used.missing[i])
		}
		withOthers, theirLeaves = append(withOthers, number), append(theirLeaves, of.leaves)
		others, people = append(others, arrayText(f.used.others)), append(people, arrayText(personsOf(p.secret, f.task.Project, f.result.People)))
	}
	if len(again) > 0 {
		for _, table := range []string{"uses", "others"} {
			if err := s.do("DELETE FROM "+table+" WHERE number = ANY($1)", pq.Array(again)); err != nil {
				return err
			}
		}
	}
	return s.do(`WITH one AS (INSERT INTO uses(number, leaves, image, missing) SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::boolean[]))
		INSERT INTO others(number, leaves, images, people) SELECT number, leaves, images::bigint[], people::bigint[]
			FROM unnest($5::bigint[], $6::integer[], $7::text[], $8::text[]) AS x(number, leaves, images, people)`,
		pq.Array(numbers), pq.Array(leaves), pq.Array(images), pq.Array(missing), pq.Array(withOthers), pq.Array(theirLeaves), pq.Array(others), pq.Array(people))
}

// arrayText is PostgreSQL's text of an array.
func arrayText(of []int64) string {
	text := []byte{'{'}
	for i, one := range of {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, one, 10)
	}
	return string(append(text, '}'))
}
