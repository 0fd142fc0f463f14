package main

import (
	"strconv"
	"strings"
)

// known is what the writer remembers of tables that only it changes, so that it need not ask for each report.
// A transaction that is undone may have changed it, so all is forgotten then.
type known struct {
	images        map[string]*knownImage // by UUID as uuidText has it; an image has no other number later
	turn          int64                  // counts reports whose images were kept
	groups        map[string]bool
	usage         map[string]*usage // by project
	forgotten     map[int64]bool    // people; nil: not read yet
	generation    int64
	hasGeneration bool
}

// Images, groups and projects that are remembered, in some MB. More are forgotten together.
const mostKnown = 50000

// Rows of uses that a statement inserts at most. Most reports use fewer.
const rowsTogether = 8

// Statements that insert 1 to rowsTogether rows into uses.
var insertUses = func() (texts [rowsTogether + 1]string) {
	for i := range texts {
		texts[i] = "INSERT INTO uses VALUES" + strings.TrimPrefix(strings.Repeat(",(?,?,?)", i), ",")
	}
	return texts
}()

// usage is the number of new reports of a project on a day, with the project's settings.
type usage struct {
	day, count, quota int64
	redact            bool
	changed           bool // the table has an older count
}

// countUse counts a new report of a project. Over the quota it is not counted.
func (k *known) countUse(tx *statements, project string, day int64) (over bool, err error) {
	u := k.usage[project]
	if u == nil || u.day != day {
		if u != nil || len(k.usage) >= mostKnown {
			if err := k.forgetUsage(tx); err != nil {
				return false, err
			}
		}
		u = &usage{day: day}
		err := tx.QueryRow(`SELECT coalesce((SELECT count FROM usage WHERE project = ?1 AND day = ?2), 0),
			coalesce((SELECT quota FROM project WHERE name = ?1), 0), coalesce((SELECT redact FROM project WHERE name = ?1), 0)`, project, day).
			Scan(&u.count, &u.quota, &u.redact)
		if err != nil {
			return false, err
		}
		if k.usage == nil {
			k.usage = map[string]*usage{}
		}
		k.usage[project] = u
	}
	if u.quota > 0 && u.count >= u.quota {
		return true, nil
	}
	u.count, u.changed = u.count+1, true
	return false, nil
}

// storeUsage writes the counts that changed. A transaction does it once, at its end.
func (k *known) storeUsage(tx *statements) error {
	for project, u := range k.usage {
		if !u.changed {
			continue
		}
		if _, err := tx.Exec("REPLACE INTO usage VALUES(?,?,?)", project, u.day, u.count); err != nil {
			return err
		}
		u.changed = false
	}
	return nil
}

// forgetUsage is for changes of quotas or of counts.
func (k *known) forgetUsage(tx *statements) error {
	err := k.storeUsage(tx)
	k.usage = nil
	return err
}

// keepGroup stores a group's title once.
func (k *known) keepGroup(tx *statements, hash, title string) error {
	if k.groups[hash] {
		return nil
	}
	if _, err := tx.Exec("INSERT INTO grp VALUES(?,?) ON CONFLICT DO NOTHING", hash, title); err != nil {
		return err
	}
	if len(k.groups) >= mostKnown || k.groups == nil {
		k.groups = map[string]bool{}
	}
	k.groups[hash] = true
	return nil
}

// symbols returns the generation of the symbols.
func (k *known) symbols(tx *statements) (generation int64, err error) {
	if !k.hasGeneration {
		if err := tx.QueryRow("SELECT generation FROM meta").Scan(&k.generation); err != nil {
			return 0, err
		}
		k.hasGeneration = true
	}
	return k.generation, nil
}

// waitAgain makes a report wait if it uses symbols that are newer than a generation.
func (k *known) waitAgain(tx *statements, number, generation int64) error {
	newest, err := k.symbols(tx)
	if err != nil || newest <= generation {
		return err
	}
	_, err = tx.Exec(`UPDATE report SET state = 0 WHERE number = ?1 AND EXISTS(SELECT 1 FROM image JOIN symbol USING(uuid)
		WHERE generation > ?2 AND image IN (SELECT image FROM uses WHERE number = ?1
		UNION ALL SELECT value FROM others, json_each(images) WHERE number = ?1))`, number, generation)
	return err
}

type knownImage struct {
	image  int64
	others bool // as in the table
	turn   int64
	at     int // in the list of the report of that turn
}

// imageOf returns an image's row, and adds it if there is none. Without a UUID it is nil.
func (k *known) imageOf(tx *statements, text, name string) (*knownImage, error) {
	if known, ok := k.images[text]; ok {
		return known, nil
	}
	uuid, err := uuidBytes(text)
	if err != nil {
		return nil, nil
	}
	if as := uuidText(uuid); as != text { // an image has one entry
		return k.imageOf(tx, as, name)
	}
	made := &knownImage{}
	err = tx.QueryRow("INSERT INTO image(uuid, name) VALUES(?,?) ON CONFLICT DO UPDATE SET name = name RETURNING image, others", uuid, name).
		Scan(&made.image, &made.others)
	if err != nil {
		return nil, err
	}
	if k.images == nil {
		k.images = map[string]*knownImage{}
	}
	k.images[text] = made
	return made, nil
}

// setOthers notes that a report has an image in others.
func (k *knownImage) setOthers(tx *statements) error {
	if k.others {
		return nil
	}
	k.others = true
	_, err := tx.Exec("UPDATE image SET others = 1 WHERE image = ?", k.image)
	return err
}

// keepUses stores the images of a report, each once. Symbols for an image without a UUID are never uploaded.
func (k *known) keepUses(tx *statements, t Task, used []Use, persons []int64) error {
	for _, table := range []string{"uses", "others"} {
		if !t.Again {
			break
		}
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE number = ?", t.Number); err != nil {
			return err
		}
	}
	type one struct {
		*knownImage
		Use
	}
	if len(k.images) >= mostKnown { // not in between: an image that a report has twice is one entry
		k.images = nil
	}
	all := make([]one, 0, len(used))
	k.turn++
	for _, use := range used {
		image, err := k.imageOf(tx, use.UUID, use.Name)
		if err != nil {
			return err
		}
		if image == nil {
			continue
		}
		if image.turn == k.turn {
			before := &all[image.at]
			before.Missing = before.Missing || use.Missing
			before.Symbols = before.Symbols || use.Symbols
			continue
		}
		image.turn, image.at = k.turn, len(all)
		all = append(all, one{image, use})
	}
	others, rows := []byte{'['}, make([]any, 0, rowsTogether*3)
	for i, use := range all {
		if !use.Missing && !use.Symbols {
			others = append(strconv.AppendInt(others, use.image, 10), ',')
			if err := use.setOthers(tx); err != nil {
				return err
			}
		} else {
			rows = append(rows, t.Number, use.image, use.Missing)
		}
		if len(rows) == cap(rows) || i == len(all)-1 && len(rows) > 0 {
			if _, err := tx.Exec(insertUses[len(rows)/3], rows...); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	if len(others) > 1 {
		others = others[:len(others)-1]
	}
	people := []byte{'['}
	for i, person := range persons {
		if i > 0 {
			people = append(people, ',')
		}
		people = strconv.AppendInt(people, person, 10)
	}
	_, err := tx.Exec("INSERT INTO others VALUES(?,?,?)", t.Number, string(append(others, ']')), string(append(people, ']')))
	return err
}
