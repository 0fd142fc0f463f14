package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// symbols puts files into the store.
type symbols struct {
	db   Database
	tool Tool
	pool *pool
	one  sync.Mutex // one upload at a time is put into the store

	later sync.WaitGroup // uploads that the database is told about later
}

// added is the result of an upload.
type added struct {
	Images []image  `json:"images"`
	Notes  []string `json:"notes"`  // messages of the tool about damage
	Redone int64    `json:"redone"` // reports that are computed again
}

type image struct {
	UUID     string  `json:"uuid"`
	Name     string  `json:"name"`
	Arch     string  `json:"arch"`
	Added    bool    `json:"added"`
	Replaced bool    `json:"replaced"`
	Why      *string `json:"why"`
}

// A file of symbols that takes longer than this, or more memory than a child may have, is refused.
const addDeadline = 15 * time.Minute

// Bytes of a file name: systems allow 255, and the store adds some.
const longestName = 100

var notInName = regexp.MustCompile(`[^A-Za-z0-9._ +-]`)

// spool writes an upload into its own folder below spool/, completely or not at all, and returns its name.
func (s *symbols) spool(body io.Reader, name string) (folder string, err error) {
	folder, err = os.MkdirTemp(s.tool.Data+"/spool", "upload-")
	if err != nil {
		return "", err
	}
	name = strings.TrimLeft(notInName.ReplaceAllString(filepath.Base(name), "_"), ".-")
	if name == "" {
		name = "upload"
	}
	if len(name) > longestName { // keep the end, which has the kind of the file
		name = name[len(name)-longestName:]
	}
	if err := writeWhole(filepath.Join(folder, name), body); err != nil {
		os.RemoveAll(folder)
		return "", err
	}
	return filepath.Base(folder), nil
}

func writeWhole(path string, body io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, body); err != nil {
		file.Close()
		return err
	}
	if err := file.Sync(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// Add puts an upload into the store, and queues the reports that it improves. Until then the database lists
// the upload, so a server that was killed in between completes it at its next start.
func (s *symbols) Add(body io.Reader, name string) (*added, error) {
	upload, err := s.spool(body, name)
	if err != nil {
		return nil, err
	}
	if err := s.db.BeginUpload(upload); err != nil {
		os.RemoveAll(s.tool.Data + "/spool/" + upload)
		return nil, err
	}
	return s.end(upload, false)
}

// Recover completes the uploads of a killed server. All their images count as better, because the store
// cannot say any more which ones are new.
func (s *symbols) Recover() error {
	uploads, err := s.db.Uploads()
	if err != nil {
		return err
	}
	for _, upload := range uploads {
		_, err := s.end(upload, true)
		if err != nil && !errors.As(err, new(refused)) && !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	left, err := os.ReadDir(s.tool.Data + "/spool")
	for _, entry := range left {
		os.RemoveAll(s.tool.Data + "/spool/" + entry.Name())
	}
	return err
}

// refused says whether a file has no symbols for the store.
type refused struct{ why string }

func (r refused) Error() string { return r.why }

func (s *symbols) end(upload string, all bool) (*added, error) {
	s.one.Lock()
	defer s.one.Unlock()
	folder := s.tool.Data + "/spool/" + upload
	result, err := s.storeAdd(folder)
	var better []string
	for _, i := range result.Images {
		if all || i.Added || i.Replaced {
			better = append(better, i.UUID)
		}
	}
	redone, failed := s.db.Improve(upload, better)
	if failed != nil {
		s.improveLater(upload, better)
		return nil, failed
	}
	os.RemoveAll(folder)
	s.pool.Wake()
	if err != nil {
		return nil, err
	}
	result.Redone = redone
	return result, nil
}

// improveLater repeats the message about better symbols until the database accepts it. The store would not
// call them new a second time.
func (s *symbols) improveLater(upload string, better []string) {
	s.later.Add(1)
	go func() {
		defer s.later.Done()
		for {
			select {
			case <-s.pool.ending:
				return // Recover completes it after the next start
			case <-time.After(time.Second):
			}
			if _, err := s.db.Improve(upload, better); err == nil {
				os.RemoveAll(s.tool.Data + "/spool/" + upload)
				s.pool.Wake()
				return
			}
		}
	}()
}

// storeAdd calls the tool to put an upload into the store. Even with an error, some images may have been
// stored.
func (s *symbols) storeAdd(folder string) (*added, error) {
	result := &added{Images: []image{}, Notes: []string{}}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		return result, refused{"the upload is gone"}
	}
	// maps have no columns, so dSYMs are kept; of a map alone, the map is kept
	c := s.tool.command("store", "add", "--json", "--keep=dsyms", s.tool.store(), filepath.Join(folder, files[0].Name()))
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Start(); err != nil {
		return result, err
	}
	late := time.AfterFunc(addDeadline, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	failed := c.Wait()
	late.Stop()
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var i image
		if err := json.Unmarshal(lines.Bytes(), &i); err == nil {
			result.Images = append(result.Images, i)
		}
	}
	for lines := bufio.NewScanner(&said); lines.Scan(); {
		result.Notes = append(result.Notes, strings.ReplaceAll(lines.Text(), folder+"/", ""))
	}
	if failed != nil && strings.Contains(strings.Join(result.Notes, "\n"), "No space left on device") {
		return result, syscall.ENOSPC // 503: the same upload will succeed when there is room
	}
	if len(result.Images) > 0 {
		return result, nil
	}
	return result, refusal(failed, result.Notes)
}

func refusal(failed error, notes []string) error {
	if len(notes) > 0 {
		return refused{strings.Join(notes, "; ")}
	}
	if failed != nil {
		return refused{"no symbols: machsym store add: " + failed.Error()}
	}
	return refused{"no symbols in it: send a dSYM in a zip, a binary, a .symmap or an .xcarchive in a zip"}
}
