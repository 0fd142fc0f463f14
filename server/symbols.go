package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	slashpath "path"
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
func (s *symbols) Add(by Caller, body io.Reader, name string) (*added, error) {
	upload, err := s.spool(body, name)
	if err != nil {
		return nil, err
	}
	if err := s.db.BeginUpload(by, upload); err != nil {
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
	path := filepath.Join(folder, files[0].Name())
	if isCache(path) {
		return s.cacheAdd(path)
	}
	if caches, err := s.cachesAdd(path); caches != nil || err != nil {
		if caches == nil {
			caches = result
		}
		return caches, err
	}
	// maps have no columns, so dSYMs are kept; of a map alone, the map is kept
	c := s.tool.command("store", "add", "--json", "--keep=dsyms", s.tool.store(), path)
	out, said, failed := runLate(c)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var i image
		if err := json.Unmarshal(lines.Bytes(), &i); err == nil {
			result.Images = append(result.Images, i)
		}
	}
	result.Notes = notesOf(said, folder)
	if noSpace(failed, said) {
		return result, syscall.ENOSPC // 503: the same upload will succeed when there is room
	}
	if len(result.Images) > 0 {
		return result, nil
	}
	return result, refusal(failed, result.Notes)
}

// runLate runs a command, until addDeadline at most.
func runLate(c *exec.Cmd) (out, said []byte, err error) {
	var to, errors bytes.Buffer
	c.Stdout, c.Stderr = &to, &errors
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	late := time.AfterFunc(addDeadline, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	err = c.Wait()
	late.Stop()
	return to.Bytes(), errors.Bytes(), err
}

// notesOf returns the lines of messages, without the folder's path.
func notesOf(said []byte, folder string) []string {
	notes := []string{}
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		notes = append(notes, strings.ReplaceAll(lines.Text(), folder+"/", ""))
	}
	return notes
}

// noSpace recognises a full disk: the same upload will succeed when there is room.
func noSpace(failed error, said []byte) bool {
	return failed != nil && bytes.Contains(said, []byte("No space left on device"))
}

// isCache recognises a dyld shared cache by its first bytes.
func isCache(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 7)
	_, err = io.ReadFull(file, begin)
	return err == nil && string(begin) == "dyld_v1"
}

// cacheAdd makes maps of all images of a shared cache. They have the names of the system's functions. The cache
// itself, of gigabytes, is not kept.
func (s *symbols) cacheAdd(path string) (*added, error) {
	result := &added{Images: []image{}, Notes: []string{}}
	_, said, failed := runLate(s.tool.command("map", "build", "--no-progress", "--images", "*", "--store", s.tool.store(), path))
	result.Notes = notesOf(said, filepath.Dir(path))
	if noSpace(failed, said) {
		return result, syscall.ENOSPC
	}
	out, _, err := runLate(s.tool.command("info", "--json", path))
	var cache struct {
		Arch   string
		Images []struct{ Name, UUID string }
	}
	if err == nil {
		err = json.Unmarshal(out, &cache)
	}
	if err != nil {
		return result, refusal(err, result.Notes)
	}
	for _, i := range cache.Images {
		if _, err := uuidBytes(i.UUID); err != nil {
			continue
		}
		if _, err := os.Stat(s.tool.store() + "/" + i.UUID[:2] + "/" + i.UUID + ".symmap"); err == nil {
			result.Images = append(result.Images, image{UUID: i.UUID, Name: filepath.Base(i.Name), Arch: cache.Arch, Added: true})
		}
	}
	if len(result.Images) == 0 {
		return result, refusal(failed, result.Notes)
	}
	return result, nil
}

// The files of shared caches: dyld_shared_cache_arm64e, and beside it .01, .25.data, .symbols.
var isCacheFile = regexp.MustCompile(`^dyld_shared_cache_[A-Za-z0-9_]+(\.[A-Za-z0-9]+)*$`)

// Bytes of the unpacked files of an upload. Those of a system have 2 to 10 GB.
const largestCaches = 32 << 30

// Method of a zip's member that zstd packed: APPNOTE.TXT 4.4.5.
const zipZstd = 93

// unpackCaches unpacks the files of shared caches from a zip into a folder, and returns the names of the caches.
func unpackCaches(path, folder string) (caches []string, err error) {
	archive, err := zip.OpenReader(path)
	if err != nil { // another kind of file
		return nil, nil
	}
	defer archive.Close()
	archive.RegisterDecompressor(zipZstd, newUnpacking)
	left := int64(largestCaches)
	for _, file := range archive.File {
		name := slashpath.Base(file.Name)
		if !isCacheFile.MatchString(name) {
			continue
		}
		if left -= int64(file.UncompressedSize64); left < 0 {
			return nil, refused{"the shared caches in it are too large"}
		}
		if err := unpackCache(file, filepath.Join(folder, name)); err != nil {
			return nil, err
		}
		if !strings.Contains(name, ".") {
			caches = append(caches, name)
		}
	}
	return caches, nil
}

// unpackCache reads a file as far as the archive says that it goes.
func unpackCache(file *zip.File, to string) error {
	from, err := file.Open()
	if err != nil {
		return refused{file.Name + ": " + err.Error()}
	}
	defer from.Close()
	err = writeWhole(to, from)
	if errors.Is(err, os.ErrExist) {
		return refused{file.Name + ": another file in the zip has this name"}
	}
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, errPackedFile) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(flate.CorruptInputError)) {
		return refused{file.Name + ": " + err.Error()}
	}
	return err
}

// cachesAdd is cacheAdd for the caches in a zip, with all their files. No caches: none are in it.
func (s *symbols) cachesAdd(path string) (result *added, err error) {
	folder, err := os.MkdirTemp(s.tool.Data+"/spool", "cache-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	caches, err := unpackCaches(path, folder)
	for _, name := range caches {
		if err != nil {
			break
		}
		var one *added
		one, err = s.cacheAdd(filepath.Join(folder, name))
		if result == nil {
			result = &added{Images: []image{}, Notes: []string{}}
		}
		result.Images, result.Notes = append(result.Images, one.Images...), append(result.Notes, one.Notes...)
	}
	return result, err
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
