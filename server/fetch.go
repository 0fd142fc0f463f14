package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// fetcher gets symbols that no upload has from sources, and keeps them in a store of their own, of a limited
// size. What a source has not is not asked for again for a time.
type fetcher struct {
	sources []*source
	guard   *guard
	via     http.RoundTripper
	flags   sourceFlags
	most    int64 // bytes of a file
	db      Database
	tool    Tool
	wake    func()
	log     logger

	lock  sync.Mutex
	known map[string]*inquiry
	queue chan wish
	one   sync.Mutex // one file at a time is put into the store
}

// inquiry is what is known of an image.
type inquiry struct {
	done  chan struct{} // closed when the rest is known
	when  time.Time
	found bool
	brief bool // a source failed: ask again soon
	tried []candidate
}

// wish is an image that a report waits for.
type wish struct{ uuid, name string }

// What is remembered, and what waits, at most.
const (
	mostAsked  = 100000
	mostWishes = 10000
)

// A source that failed is asked again after this.
const failureStays = time.Minute

// newFetcher returns nil without sources.
func newFetcher(flags sourceFlags, most int64, db Database, tool Tool, log logger) (*fetcher, error) {
	if len(flags.sources) == 0 {
		return nil, nil
	}
	if flags.timeout <= 0 || flags.retry <= 0 || flags.cache <= 0 {
		return nil, errors.New("--source-timeout, --source-retry and --source-cache: they must be more than 0")
	}
	f := &fetcher{guard: newGuard(&flags), flags: flags, most: most, db: db, tool: tool, log: log, known: map[string]*inquiry{}, queue: make(chan wish, mostWishes)}
	f.via = f.guard.transport(flags.timeout)
	minio.MaxRetry = 2 // what fails longer is asked again later
	for _, text := range flags.sources {
		one, err := readSource(text, f.via)
		if err != nil {
			return nil, err
		}
		f.sources = append(f.sources, one)
		f.guard.hosts[strings.ToLower(one.at.Host)] = true
	}
	return f, os.MkdirAll(tool.fetched(), 0o700)
}

// fetched is the store of what came from sources.
func (t Tool) fetched() string { return t.Data + "/fetched" }

// Run fetches what reports wait for.
func (f *fetcher) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-f.queue:
			f.get(ctx, w)
		}
	}
}

// get returns when it is known whether a source has an image.
func (f *fetcher) get(ctx context.Context, w wish) *inquiry {
	f.lock.Lock()
	one := f.known[w.uuid]
	if one != nil && one.isFresh(f.flags.retry) {
		f.lock.Unlock()
		select {
		case <-one.done:
		case <-ctx.Done():
		}
		return one
	}
	if len(f.known) >= mostAsked {
		f.known = map[string]*inquiry{}
	}
	one = &inquiry{done: make(chan struct{})}
	f.known[w.uuid] = one
	f.lock.Unlock()
	f.ask(ctx, w, one)
	return one
}

// isFresh says whether an answer still counts.
func (a *inquiry) isFresh(retry time.Duration) bool {
	select {
	case <-a.done:
	default:
		return true
	}
	if a.brief || a.found { // if files push each other out, they come once a minute at most
		retry = failureStays
	}
	return time.Since(a.when) < retry
}

// ask asks each source in turn, until one has debug info.
func (f *fetcher) ask(ctx context.Context, w wish, one *inquiry) {
	defer close(one.done)
	defer func() { one.when = time.Now() }()
	for _, from := range f.sources {
		for _, file := range from.files(w.uuid, w.name) {
			tried := candidate{Source: from.name, Location: from.at.String() + file, Download: download{Status: "ok"}}
			err := f.take(ctx, from, file, w.uuid)
			var wrong wrongFile
			switch {
			case err == nil:
				one.found = true
			case errors.Is(err, errNoFile):
				tried.Download.Status = "notfound"
			case errors.As(err, &wrong):
				tried.Download.Status, tried.Download.Details = "error", err.Error()
			default:
				tried.Download.Status, tried.Download.Details = "error", err.Error()
				one.brief = true
			}
			if err != nil && !errors.Is(err, errNoFile) {
				f.log.say("error", "what", "a source of symbols", "place", tried.Location, "why", err.Error())
			}
			one.tried = append(one.tried, tried)
			if one.found {
				f.improve(w.uuid)
				return
			}
		}
	}
}

func (f *fetcher) improve(uuid string) {
	if _, err := f.db.Improve("", []string{uuid}); err != nil {
		f.log.say("error", "what", "reports do not use a file that came", "uuid", uuid, "why", err.Error())
	}
	f.wake()
}

// wrongFile says what is wrong with a file of a source.
type wrongFile string

func (w wrongFile) Error() string { return string(w) }

// take fetches a file into the store, if it is the file of the image, and whole.
func (f *fetcher) take(ctx context.Context, from *source, file, uuid string) error {
	ctx, cancel := context.WithTimeout(ctx, f.flags.timeout)
	defer cancel()
	body, err := from.open(ctx, f.via, f.guard.check, file)
	if err != nil {
		return err
	}
	defer body.Close()
	folder, err := os.MkdirTemp(f.tool.Data+"/spool", "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "file")
	limited := &io.LimitedReader{R: body, N: f.most + 1}
	if err := writeWhole(path, limited); err != nil {
		return err
	}
	if limited.N <= 0 {
		return wrongFile(fmt.Sprintf("it has more than %d bytes", f.most))
	}
	if err := f.isOf(path, uuid); err != nil {
		return err
	}
	f.one.Lock()
	defer f.one.Unlock()
	_, said, failed := runLate(f.tool.command("store", "add", "--json", "--keep=dsyms", f.tool.fetched(), path))
	if noSpace(failed, said) {
		return errNoSpace
	}
	if !f.has(uuid) {
		return wrongFile("the store does not take it: " + strings.Join(notesOf(said, folder), "; "))
	}
	f.trim(uuid)
	return nil
}

var errNoSpace = errors.New("no space left on the disk")

// isOf refuses a file that is no Mach-O file of an image, or is cut short.
func (f *fetcher) isOf(path, uuid string) error {
	out, said, err := runLate(f.tool.command("info", "--json", path))
	for _, line := range bytes.Split(out, []byte("\n")) {
		var slice struct {
			UUID string
			Cut  bool `json:"cut_short"`
			Lies bool `json:"misleading"`
		}
		if json.Unmarshal(line, &slice) != nil || slice.UUID != uuid {
			continue
		}
		if slice.Cut {
			return wrongFile("it is cut short")
		}
		if slice.Lies {
			return wrongFile("it contradicts itself")
		}
		return nil
	}
	if err != nil && len(out) == 0 {
		return wrongFile("it is no file of symbols: " + strings.Join(notesOf(said, filepath.Dir(path)), "; "))
	}
	return wrongFile("it has another UUID")
}

// has says whether the store has any file of an image.
func (f *fetcher) has(uuid string) bool {
	found, _ := filepath.Glob(f.tool.fetched() + "/" + uuid[:2] + "/" + uuid + ".*")
	return len(found) > 0
}

// trim removes the files that came first while all together are too large. One that just came stays.
func (f *fetcher) trim(uuid string) {
	type kept struct {
		path string
		size int64
		at   time.Time
	}
	files := []kept{}
	total := int64(0)
	places, _ := filepath.Glob(f.tool.fetched() + "/??/*.*")
	for _, place := range places {
		info, err := os.Stat(place)
		if err != nil {
			continue
		}
		size := sizeOf(place)
		total += size
		if !strings.HasPrefix(filepath.Base(place), uuid) {
			files = append(files, kept{place, size, info.ModTime()})
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].at.Before(files[j].at) })
	for _, one := range files {
		if total <= f.flags.cache<<20 {
			return
		}
		if err := os.RemoveAll(one.path); err == nil {
			total -= one.size
		}
	}
}

func sizeOf(place string) (bytes int64) {
	filepath.Walk(place, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// watched is a database whose results tell the fetcher what reports wait for.
type watched struct {
	Database
	fetch *fetcher
}

func (w watched) Finish(t Task, r Result) error {
	err := w.Database.Finish(t, r)
	if err == nil {
		for _, use := range r.Images {
			if use.Missing && use.UUID != "" && !use.Symbols {
				w.fetch.want(wish{use.UUID, use.Name})
			}
		}
	}
	return err
}

// want does not wait. What has no room is wanted again by the next report.
func (f *fetcher) want(w wish) {
	f.lock.Lock()
	one := f.known[w.uuid]
	f.lock.Unlock()
	if one != nil && (one.isFresh(f.flags.retry) || f.has(w.uuid)) {
		return
	}
	select {
	case f.queue <- w:
	default:
	}
}
