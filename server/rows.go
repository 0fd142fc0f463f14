package main

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What both databases do with the rows of a result.

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

// allOf reads all rows of a result. Without one the list is empty, not nil.
func allOf[T any](to querier, read func(scan) (T, error), statement string, values ...any) ([]T, error) {
	list := []T{}
	err := each(to, func(scan scan) error {
		one, err := read(scan)
		list = append(list, one)
		return err
	}, statement, values...)
	return list, err
}

func readReport(scan scan) (r Report, err error) {
	var key []byte
	var received int64
	err = scan(&key, &r.State, &r.Deaths, &r.Reason, &received)
	r.ID, r.Received = hex.EncodeToString(key), time.UnixMilli(received).UTC()
	return r, err
}

func readGroup(scan scan) (g Group, err error) {
	var first, last int64
	err = scan(&g.Hash, &g.Title, &g.Count, &first, &last)
	g.First, g.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	return g, err
}

func readWant(scan scan) (w Want, err error) {
	var uuid []byte
	if err = scan(&uuid, &w.Name, &w.Reports); err == nil {
		w.UUID = uuidText(uuid)
	}
	return w, err
}

func readToken(scan scan) (t Token, err error) {
	err = scan(&t.Role, &t.Project, &t.Name)
	return t, err
}

func readEvent(scan scan) (e Event, err error) {
	err = scan(&e.place.number, &e.place.time, &e.Token, &e.Address, &e.Action, &e.Object)
	e.Time = time.UnixMilli(e.place.time).UTC()
	return e, err
}

func countStates(to querier, c *Counts, statement string) error {
	return each(to, func(scan scan) error {
		var state State
		var count int
		err := scan(&state, &count)
		c.States[state] = count
		return err
	}, statement)
}
