package main

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
)

// SQLite can write its journal back only if the database file has room to grow. On a full disk there is no
// room, and more journal takes any that appears, so both would be stuck for good. Therefore a file reserves
// some room, and is deleted in this case.
const reserveBytes = 8 << 20

// Pause between two attempts to restore the reserve.
const reserveRetry = time.Second

// ErrFull says that there is no room for data that can be sent again later.
var ErrFull = errors.New("the disk is full")

// reserve is the file that reserves room. Only one goroutine uses it.
type reserve struct {
	path  string
	held  bool // the file exists
	given bool // it was deleted: the room is only for results
	tried time.Time
}

// give removes the file.
func (r *reserve) give() {
	os.Remove(r.path)
	r.held, r.given, r.tried = false, true, time.Now()
}

// due says whether to check for room again.
func (r *reserve) due() bool {
	if r.held || time.Since(r.tried) < reserveRetry {
		return false
	}
	r.tried = time.Now()
	return true
}

// make creates the file if there is room for it and as much beside it, and returns whether there is. If a
// file system cannot reserve room, there is no reserve.
func (r *reserve) make() bool {
	err := r.allocate()
	if err != nil {
		os.Remove(r.path)
	}
	r.held = !isFull(err)
	return r.held
}

func (r *reserve) allocate() error {
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var disk syscall.Statfs_t
	var there syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &there); err == nil && there.Blocks*512 >= reserveBytes {
		return nil // of an earlier run
	}
	err = syscall.Fstatfs(int(file.Fd()), &disk)
	if err == nil && disk.Bavail*uint64(disk.Bsize) < 2*reserveBytes {
		return syscall.ENOSPC
	}
	for err = syscall.EINTR; err == syscall.EINTR; { // a signal may interrupt it
		err = syscall.Fallocate(int(file.Fd()), 0, 0, reserveBytes)
	}
	return err
}

// isFull recognises the errors of a full disk or quota.
func isFull(err error) bool {
	var of sqlite3.Error
	if errors.As(err, &of) && (of.Code == sqlite3.ErrFull || noRoom(of.SystemErrno)) {
		return true
	}
	var number syscall.Errno
	return errors.Is(err, ErrFull) || isFullPostgres(err) || errors.As(err, &number) && noRoom(number)
}

func noRoom(number syscall.Errno) bool { return number == syscall.ENOSPC || number == syscall.EDQUOT }
