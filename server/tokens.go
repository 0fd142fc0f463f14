package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// newToken makes a secret. A token without a name is named by its hash.
func newToken(db Database, by Caller, t Token) (string, error) {
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return "", err
	}
	token := "ms_" + hex.EncodeToString(secret)
	hash := hashOf([]byte(token))
	if t.Name == "" {
		t.Name = hash[:8]
	}
	return token, db.AddToken(by, hash, t)
}

// inProject returns the token as one of the project that a request is about. Only one of the role server may name
// a project that is not its own; without a name it is about default, and an empty name means the server's own tokens.
func (t Token) inProject(words url.Values) (*Token, error) {
	asked, own := words.Get("project"), t.Project
	if t.Role == roleServer {
		t.Project = "default"
		if words.Has("project") {
			t.Project = asked
		}
		if t.Project != "" && !isProject(t.Project) {
			return nil, errors.New("project= is no name of a project")
		}
		return &t, nil
	}
	if words.Has("project") && asked != own {
		return nil, errors.New("this token is of another project")
	}
	return &t, nil
}

// wished is a token that an admin asks for.
type wished struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

func (s *server) listTokens(w http.ResponseWriter, _ *http.Request, t *Token) {
	found, err := s.db.Tokens(t.Project)
	list := []wished{}
	for _, one := range found {
		list = append(list, wished{one.Role, one.Name})
	}
	s.tell(w, map[string]any{"tokens": list}, err)
}

// addToken makes a token of the project. Its secret is told once.
func (s *server) addToken(w http.ResponseWriter, r *http.Request, t *Token) {
	var wish wished
	if !s.readJSON(w, r, &wish) {
		return
	}
	ofServer := t.Role == roleServer && t.Project == ""
	switch {
	case wish.Name != "" && !isProject(wish.Name) || strings.Contains(wish.Name, "/"):
		refuse(w, http.StatusBadRequest, "a name has 1 to 100 bytes of UTF-8, no control characters and no slash")
		return
	case ofServer && wish.Role != roleServer || !ofServer && !isRole(wish.Role):
		refuse(w, http.StatusBadRequest, `send {"role":"send","name":"phone"}; a role is send, read, upload or admin, and server with project= of the server's own`)
		return
	}
	secret, err := newToken(s.db, s.callerOf(r, t), Token{wish.Role, t.Project, wish.Name})
	switch {
	case errors.Is(err, ErrTaken):
		refuse(w, http.StatusConflict, err.Error())
	case err != nil:
		s.broken(w, err)
	default:
		reply(w, http.StatusCreated, map[string]string{"token": secret})
	}
}

// deleteToken is known to this server at once, and to others after tokenAge.
func (s *server) deleteToken(w http.ResponseWriter, r *http.Request, t *Token) {
	found, err := s.db.DeleteToken(s.callerOf(r, t), strings.TrimPrefix(r.URL.Path, "/tokens/"))
	s.tokens.forget()
	switch {
	case err != nil:
		s.broken(w, err)
	case !found:
		refuse(w, http.StatusNotFound, "no token of this project has this name")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

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

func (k *tokens) forget() {
	k.lock.Lock()
	k.found = nil
	k.lock.Unlock()
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
