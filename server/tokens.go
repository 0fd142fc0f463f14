package main

import (
	"sync"
	"time"
)

// tokens remembers tokens that were found, so that the database is not asked for each request.
type tokens struct {
	lock  sync.Mutex
	found map[string]*Token // by hash
	since time.Time         // when the first of them was found
}

// Tokens are remembered this long. One that was deleted is refused after that.
const tokenAge = time.Second

// find returns nil if there is no such token. It asks the database each time for those: a new token is good at
// once.
func (k *tokens) find(db Database, hash string) (*Token, error) {
	if t := k.get(hash); t != nil {
		return t, nil
	}
	t, err := db.FindToken(hash)
	if err == nil && t != nil {
		k.lock.Lock()
		k.found[hash] = t
		k.lock.Unlock()
	}
	return t, err
}

// get returns nil for a token that is not remembered.
func (k *tokens) get(hash string) *Token {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.found == nil || time.Since(k.since) > tokenAge {
		k.found, k.since = map[string]*Token{}, time.Now()
	}
	return k.found[hash]
}
