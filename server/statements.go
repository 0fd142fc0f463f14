package main

import (
	"context"
	"database/sql"
	"sync"
)

// statements runs SQL. Each text is prepared once, because SQLite often needs more time to compile a text than
// to run it. There is a fixed number of texts.
type statements struct {
	on interface {
		PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	}
	lock  sync.Mutex
	known map[string]*sql.Stmt
}

func (s *statements) prepared(text string) (*sql.Stmt, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if known, ok := s.known[text]; ok {
		return known, nil
	}
	made, err := s.on.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		s.known = map[string]*sql.Stmt{}
	}
	s.known[text] = made
	return made, nil
}

func (s *statements) Exec(text string, values ...any) (sql.Result, error) {
	made, err := s.prepared(text)
	if err != nil {
		return nil, err
	}
	return made.Exec(values...)
}

func (s *statements) Query(text string, values ...any) (*sql.Rows, error) {
	made, err := s.prepared(text)
	if err != nil {
		return nil, err
	}
	return made.Query(values...)
}

// row is the only row of a result, or the error of its statement.
type row struct {
	found *sql.Row
	err   error
}

func (r row) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.found.Scan(into...)
}

func (s *statements) QueryRow(text string, values ...any) row {
	made, err := s.prepared(text)
	if err != nil {
		return row{nil, err}
	}
	return row{made.QueryRow(values...), nil}
}
