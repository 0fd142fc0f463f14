package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Bytes of a part, and the number of parts of a file.
const (
	maxPart  = 64 << 20
	maxParts = 10000
)

// Parts that are not used by a file are kept this long.
const partAge = 24 * time.Hour

var isPart = regexp.MustCompile(`^[0-9a-f]{64}$`)

// parts are pieces of files that arrive one by one, each stored under its SHA-256. An interrupted upload
// continues with the missing parts.
type parts struct {
	folder string
	most   int64 // bytes of all parts
}

// newParts keeps the parts in the folder, and deletes incomplete ones.
func newParts(folder string, most int64) (*parts, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	half, _ := filepath.Glob(folder + "/new-*")
	for _, path := range half {
		os.Remove(path)
	}
	return &parts{folder, most}, nil
}

func (p *parts) path(name string) string { return p.folder + "/" + name }

// has says whether a part is there. It also renews the time that the part is kept.
func (p *parts) has(name string) bool {
	now := time.Now()
	return isPart.MatchString(name) && os.Chtimes(p.path(name), now, now) == nil
}

// put stores a whole part or nothing.
func (p *parts) put(name string, body io.Reader) error {
	file, err := os.CreateTemp(p.folder, "new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(file, sum), body); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return refused{"the bytes have another SHA-256: send the part again"}
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(file.Name(), p.path(name))
}

// bytes counts all parts, including those that are arriving.
func (p *parts) bytes() (all int64) {
	entries, _ := os.ReadDir(p.folder)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			all += info.Size()
		}
	}
	return all
}

// missing lists the parts that are not there.
func (p *parts) missing(names []string) []string {
	list := []string{}
	for _, name := range names {
		if !p.has(name) {
			list = append(list, name)
		}
	}
	return list
}

func (p *parts) drop(names []string) {
	for _, name := range names {
		os.Remove(p.path(name))
	}
}

// expire deletes old parts.
func (p *parts) expire() {
	entries, _ := os.ReadDir(p.folder)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > partAge {
			os.Remove(p.path(entry.Name()))
		}
	}
}

// joined reads parts one after another, with one open file at a time.
type joined struct {
	of    *parts
	names []string
	now   *os.File
}

func (j *joined) Read(into []byte) (int, error) {
	for {
		if j.now == nil {
			if len(j.names) == 0 {
				return 0, io.EOF
			}
			file, err := os.Open(j.of.path(j.names[0]))
			if err != nil {
				return 0, err
			}
			j.now, j.names = file, j.names[1:]
		}
		n, err := j.now.Read(into)
		if err != io.EOF {
			return n, err
		}
		j.Close()
	}
}

func (j *joined) Close() error {
	if j.now != nil {
		j.now.Close()
		j.now = nil
	}
	return nil
}

func partOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/parts/") }

// hasPart says whether a part need not be sent again.
func (s *server) hasPart(w http.ResponseWriter, r *http.Request, _ *Token) {
	if !s.parts.has(partOf(r)) {
		refuse(w, http.StatusNotFound, "no such part: PUT it")
		return
	}
	tell200(w, map[string]any{"part": partOf(r), "new": false})
}

// putPart stores one part of a file.
func (s *server) putPart(w http.ResponseWriter, r *http.Request, _ *Token) {
	name := partOf(r)
	if !isPart.MatchString(name) {
		refuse(w, http.StatusNotFound, "a part is called by its SHA-256, 64 hexadecimal digits in lower case")
		return
	}
	if s.parts.bytes() > s.parts.most {
		s.broken(w, errors.New("there are too many parts that no file was made of"))
		return
	}
	known := s.parts.has(name)
	err := s.parts.put(name, http.MaxBytesReader(w, patient{r, s.slow}, maxPart))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a part has at most %d bytes", maxPart))
	case s.badBody(w, err):
	case known:
		tell200(w, map[string]any{"part": name, "new": false})
	default:
		reply(w, http.StatusCreated, map[string]any{"part": name, "new": true})
	}
}

// joinParts joins the parts of a file, and puts its symbols into the store.
func (s *server) joinParts(w http.ResponseWriter, r *http.Request, t *Token) {
	var asked struct {
		Parts []string `json:"parts"`
	}
	if !s.readJSON(w, r, &asked) {
		return
	}
	if len(asked.Parts) == 0 || len(asked.Parts) > maxParts {
		refuse(w, http.StatusBadRequest, fmt.Sprintf(`send {"parts":["SHA-256",...]}, at most %d`, maxParts))
		return
	}
	if missing := s.parts.missing(asked.Parts); len(missing) > 0 {
		w.Header().Set("Connection", "close")
		reply(w, http.StatusConflict, map[string]any{"error": "PUT the missing parts, then ask again", "missing": missing})
		return
	}
	body := &joined{of: s.parts, names: asked.Parts}
	defer body.Close()
	result, err := s.symbols.Add(s.callerOf(r, t), http.MaxBytesReader(w, io.NopCloser(body), s.maxUpload), r.URL.Query().Get("name"))
	if err == nil || errors.As(err, new(refused)) {
		s.parts.drop(asked.Parts)
	}
	s.tellAdded(w, result, err)
}
