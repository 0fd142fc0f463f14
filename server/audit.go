package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"
)

// callerOf is who sent a request. A proxy that the operator named says for whom it asks.
func (s *server) callerOf(r *http.Request, t *Token) Caller {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if s.proxy != "" && host == s.proxy {
		words := strings.Split(r.Header.Get("X-Forwarded-For"), ",") // the last one is the proxy's own
		if client := net.ParseIP(strings.TrimSpace(words[len(words)-1])); client != nil {
			host = client.String()
		}
	}
	return Caller{t.Project, t.Name, host}
}

func (s Settings) text() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// recorded writes to the audit what is about to be told. False: it could not, and nothing may be told.
func (s *server) recorded(w http.ResponseWriter, by Caller, action, object string) bool {
	err := s.db.Record(by, action, object)
	if err != nil {
		s.broken(w, err)
	}
	return err == nil
}

// audit sends who did what in the project, the newest first. next= of an answer is before= of the next request.
func (s *server) audit(w http.ResponseWriter, r *http.Request, t *Token) {
	of, err := readSpan(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	of.Project = t.Project
	list, err := s.db.Audit(of)
	if err != nil {
		s.broken(w, err)
		return
	}
	if !s.recorded(w, s.callerOf(r, t), didAudit, r.URL.RawQuery) {
		return
	}
	var next *string
	if len(list) == of.Limit {
		last := list[len(list)-1].place
		text := fmt.Sprintf("%d-%d", last.time, last.number)
		next = &text
	}
	tell200(w, map[string]any{"audit": list, "next": next})
}

func readSpan(r *http.Request) (of Span, err error) {
	of = Span{Until: math.MaxInt64, Before: place{math.MaxInt64, math.MaxInt64}, Limit: limitOf(r)}
	words := r.URL.Query()
	for name, to := range map[string]*int64{"since": &of.Since, "until": &of.Until} {
		if text := words.Get(name); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return of, fmt.Errorf("%s= is a time such as 2026-01-31T00:00:00Z", name)
			}
			*to = at.UnixMilli()
		}
	}
	if text := words.Get("before"); text != "" {
		var more string
		if n, _ := fmt.Sscanf(text+" ", "%d-%d%s", &of.Before.time, &of.Before.number, &more); n != 2 {
			return of, fmt.Errorf("before= is next of an earlier answer")
		}
	}
	return of, nil
}
