package main

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
)

// SQLite's journal can only be written back when the database file has room to grow. On a full disk it has none, and a
// little room that comes is taken by more journal: both would be stuck for good. So some room is kept in a file, which is
// given up for that.
const reserveBytes = 8 << 20

// Pause between two tries to take the reserve back.
const reserveRetry = time.Second

// ErrFull says that there is no room for what may be sent again later.
var ErrFull = errors.New("the disk is full")

// reserve is the file that keeps room. Only one goroutine uses it.
type reserve struct {
	path  string
	held  bool // the file is there
	given bool // it was given up: there is room for results only
	tried time.Time
}

// give removes the file.
func (r *reserve) give() {
	os.Remove(r.path)
	r.held, r.given, r.tried = false, true, time.Now()
}

// due says that it is time to try whether there is room again.
func (r *reserve) due() bool {
	if r.held || time.Since(r.tried) < reserveRetry {
		return false
	}
	r.tried = time.Now()
	return true
}

// make makes the file, when there is room for it and as much beside it, and says whether there is. A file system that cannot
// keep room has to do without a reserve.
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
		return nil // of a run before
	}
	err = syscall.Fstatfs(int(file.Fd()), &disk)
	if err == nil && disk.Bavail*uint64(disk.Bsize) < 2*reserveBytes {
		return syscall.ENOSPC
	}
	for err = syscall.EINTR; err == syscall.EINTR; { // ended by a signal less
		err = syscall.Fallocate(int(file.Fd()), 0, 0, reserveBytes)
	}
	return err
}

// isFull tells a full disk or quota from other errors.
func isFull(err error) bool {
	var of sqlite3.Error
	if errors.As(err, &of) && (of.Code == sqlite3.ErrFull || noRoom(of.SystemErrno)) {
		return true
	}
	var number syscall.Errno
	return errors.Is(err, ErrFull) || errors.As(err, &number) && noRoom(number)
}

func noRoom(number syscall.Errno) bool { return number == syscall.ENOSPC || number == syscall.EDQUOT }
