package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cluster is a PostgreSQL of the tests, below a folder of its own, without TCP.
type cluster struct {
	folder, bin string
	as          *syscall.SysProcAttr // PostgreSQL refuses root
	process     *exec.Cmd
	made        int
	why         string // there is none
}

var (
	shared   cluster
	sharedBy sync.Once
)

func TestMain(m *testing.M) {
	status := m.Run()
	shared.stop(syscall.SIGQUIT)
	os.RemoveAll(shared.folder)
	os.Exit(status)
}

func (c *cluster) start() error {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		c.why = "it needs postgresql-15"
		return nil
	}
	c.bin = filepath.Dir(found[len(found)-1])
	var err error
	if c.folder, err = os.MkdirTemp("/tmp", "machsym-pg-"); err != nil { // a socket's path is short
		return err
	}
	c.as = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() == 0 {
		if c.as.Credential, err = unprivileged(c.folder); err != nil {
			c.why = "root cannot become another user here"
			return nil
		}
	}
	if said, err := c.command("initdb", "-A", "trust", "-U", "machsym", "-E", "UTF8", "--no-locale", "-D", c.folder+"/db").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	return c.run()
}

// unprivileged gives the folder to a user without rights.
func unprivileged(folder string) (*syscall.Credential, error) {
	const number = 65534
	as := &syscall.Credential{Uid: number, Gid: number}
	try := exec.Command("/bin/true")
	try.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if err := try.Run(); err != nil {
		return nil, err
	}
	return as, os.Chown(folder, number, number)
}

func (c *cluster) command(name string, options ...string) *exec.Cmd {
	made := exec.Command(c.bin+"/"+name, options...)
	made.SysProcAttr, made.Dir = c.as, c.folder
	return made
}

func (c *cluster) run() error {
	c.process = c.command("postgres", "-D", c.folder+"/db", "-c", "listen_addresses=", "-c", "unix_socket_directories="+c.folder, "-c", "shared_buffers=16MB")
	if err := c.process.Start(); err != nil {
		return err
	}
	for i := 0; i < 600; i++ {
		if c.command("psql", "-h", c.folder, "-U", "machsym", "-c", "SELECT 1", "postgres").Run() == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("PostgreSQL does not answer")
}

func (c *cluster) stop(how syscall.Signal) {
	if c.process != nil {
		c.process.Process.Signal(how)
		c.process.Wait()
	}
	c.process = nil
}

// address makes a database and returns its address.
func (c *cluster) address(t *testing.T) string {
	t.Helper()
	var err error
	sharedBy.Do(func() { err = c.start() })
	must(t, err)
	if c.why != "" {
		t.Skip(c.why)
	}
	c.made++
	name := fmt.Sprintf("t%d", c.made)
	if said, err := c.command("createdb", "-h", c.folder, "-U", "machsym", name).CombinedOutput(); err != nil {
		t.Fatal(err, string(said))
	}
	return "postgres://machsym@/" + name + "?sslmode=disable&host=" + c.folder
}

func openAt(t *testing.T, address, holder string) *postgres {
	t.Helper()
	db, err := OpenPostgres(address, holder, 0)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db.(*postgres)
}

func openPostgres(t *testing.T) Database { return openAt(t, shared.address(t), "a") }

// Two servers that start together make one schema. A newer one is refused, and stays.
func TestSchemaOfPostgres(t *testing.T) {
	address := shared.address(t)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			db, err := OpenPostgres(address, "a", 0)
			if err != nil {
				t.Error(err)
				return
			}
			db.Close()
		}()
	}
	all.Wait()
	db := openAt(t, address, "a")
	must(t, db.change(func(s session) error { return s.do("UPDATE machsym_schema SET version = 99") }))
	if _, err := OpenPostgres(address, "a", 0); err == nil || !strings.Contains(err.Error(), "newer machsym-server") {
		t.Fatal(err)
	}
}

// Reports that come through two servers at once are new once, and each is given to one worker.
func TestTwoServers(t *testing.T) {
	address := shared.address(t)
	servers := []*postgres{openAt(t, address, "a"), openAt(t, address, "b")}
	const count = 40
	var all sync.WaitGroup
	var lock sync.Mutex
	fresh, given := 0, map[int64]int{}
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func(db *postgres) {
			defer all.Done()
			for n := 0; n < count; n++ {
				body := []byte(fmt.Sprint("report ", n))
				added, err := db.Add(of("default"), hashOf(body), body)
				if err != nil {
					t.Error(err)
				}
				tasks, err := db.Take(3, hour)
				if err != nil {
					t.Error(err)
				}
				lock.Lock()
				if added {
					fresh++
				}
				for _, task := range tasks {
					given[task.Number]++
				}
				lock.Unlock()
			}
		}(servers[i%2])
	}
	all.Wait()
	if fresh != count || len(given) != count {
		t.Fatal(fresh, "are new and", len(given), "are given, not", count)
	}
	for number, times := range given {
		if times != 1 {
			t.Fatal("report", number, "is given", times, "times")
		}
	}
}

// A server that starts again ends its own leases, and not those of others.
func TestReleaseOfOne(t *testing.T) {
	address := shared.address(t)
	one, two := openAt(t, address, "a"), openAt(t, address, "b")
	first, second := add(t, one, "first"), add(t, one, "second")
	take(t, one, hour)
	take(t, two, hour)
	must(t, one.Release())
	want(t, one, first, Waiting, "")
	want(t, one, second, Leased, "")
	must(t, one.BeginUpload(of("default"), "an upload"))
	if uploads, err := two.Uploads(); err != nil || len(uploads) != 0 {
		t.Fatal("another server's upload", uploads, err)
	}
}

// While results are written, symbols come by another server: each report has them, or waits again.
func TestSymbolsAtOnce(t *testing.T) {
	address := shared.address(t)
	one, two := openAt(t, address, "a"), openAt(t, address, "b")
	for round := 0; round < 40; round++ {
		image := fmt.Sprintf("%032X", round)
		add(t, one, fmt.Sprint("report ", round))
		task := take(t, one, hour)
		var all sync.WaitGroup
		all.Add(2)
		go func() {
			defer all.Done()
			if err := one.Finish(task, Result{Answer: []byte("old"), Images: []Use{{image, "demo", true, false}}, Generation: task.Generation}); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer all.Done()
			if _, err := two.Improve("an upload", []string{image}); err != nil {
				t.Error(err)
			}
		}()
		all.Wait()
		again := take(t, two, hour)
		must(t, two.Finish(again, Result{Answer: []byte("new"), Images: []Use{{image, "demo", false, true}}, Generation: again.Generation}))
	}
}

// Many reports with the same new images at once: none waits for another one that waits for it.
func TestNewImagesAtOnce(t *testing.T) {
	address := shared.address(t)
	servers := []*postgres{openAt(t, address, "a"), openAt(t, address, "b")}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := 0; i < 8; i++ {
		images := map[string]Use{}
		for n := 0; n < 3000; n++ {
			images[fmt.Sprintf("%016d", n)] = Use{Name: "demo"}
		}
		all.Add(1)
		go func(db *postgres) {
			defer all.Done()
			<-begin
			if _, err := db.knownImages(images); err != nil {
				t.Error(err)
			}
		}(servers[i%2])
	}
	close(begin)
	all.Wait()
}

// Text that PostgreSQL does not take is kept all the same.
func TestOddText(t *testing.T) {
	db := openPostgres(t)
	id := add(t, db, "a report")
	must(t, db.Finish(take(t, db, hour), Result{Answer: []byte("\x00\xff"), Group: "a\x00b", Title: "\xff\x00", Images: []Use{{uuid, "\x00\xfe", true, false}}}))
	want(t, db, id, Done, "\x00\xff")
	if found, err := db.Grouped("default", "a\x00b", 9); err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	add(t, db, "another")
	if dead, err := db.Fail(take(t, db, hour), "\x00\xff", true, 3); err != nil || !dead {
		t.Fatal(dead, err)
	}
}

// A server is woken when another one has work.
func TestWake(t *testing.T) {
	address := shared.address(t)
	one, two := openAt(t, address, "a"), openAt(t, address, "b")
	woken := make(chan bool, 100)
	two.OnWork(func() { woken <- true })
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		body := []byte(fmt.Sprint(begin, time.Since(begin)))
		if _, err := one.Add(of("default"), hashOf(body), body); err != nil {
			t.Fatal(err)
		}
		if len(woken) > 0 {
			return
		}
	}
	t.Fatal("it is not woken")
}

// A database that is away is told, and is used when it is there again. Leases whose commit had no answer end.
func TestAway(t *testing.T) {
	db := openPostgres(t).(*postgres)
	id := add(t, db, "a report")
	task := take(t, db, hour)
	shared.stop(syscall.SIGINT)
	body := []byte("another")
	if _, err := db.Add(of("default"), hashOf(body), body); err == nil || !isAway(err) {
		t.Error("it is not away", err)
	}
	if _, err := db.Take(1, hour); err == nil || !isAway(err) {
		t.Error("it is not away", err)
	}
	if err := shared.run(); err != nil {
		t.Fatal(err)
	}
	db.doubtful = append(db.doubtful, task.Lease)
	take(t, db, hour)
	want(t, db, id, Leased, "")
	add(t, db, "another")
}

// Of several hosts the one that takes changes is found, also while others are away.
func TestHosts(t *testing.T) {
	for address, hosts := range map[string][]string{
		"postgres://u:p@a:1,b:2,[::1]:3/x": {"a:1", "b:2", "[::1]:3"},
		"postgres://a,b/x":                 {"a", "b"},
		"postgres://u@/x?host=/a,/b&port=1,2&target_session_attrs=read-write": {"host=%2Fa&.*port=1", "host=%2Fb&.*port=2"},
		"postgres://u@/x?host=/a,/b&port=7":                                   {"host=%2Fa&.*port=7", "host=%2Fb&.*port=7"},
	} {
		singles, err := singlesOf(address)
		must(t, err)
		if len(singles) != len(hosts) {
			t.Fatal(address, singles)
		}
		for i, host := range hosts {
			if !regexp.MustCompile(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(host)).MatchString(singles[i]) || strings.Contains(singles[i], "target") {
				t.Fatal(host, "is not in", singles[i])
			}
		}
	}
	for _, address := range []string{"postgres://a/x?target_session_attrs=any", "postgres://u@/x?host=/a,/b,/c&port=1,2"} {
		if _, err := singlesOf(address); err == nil {
			t.Error(address, "is taken")
		}
	}
	address := shared.address(t)
	db := openAt(t, strings.Replace(address, "host=", "host=/nowhere,"+shared.folder+",", 1), "a")
	add(t, db, "a report")
	must(t, openAt(t, address, "b").db.Ping())
	name := strings.TrimPrefix(strings.Split(address, "?")[0], "postgres://machsym@/")
	must(t, db.change(func(s session) error {
		return s.do("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
	}))
	if _, err := OpenPostgres(strings.Replace(address, "host=", "host=/nowhere,", 1), "c", 0); err == nil || !isAway(err) {
		t.Fatal("a host that takes no changes is taken", err)
	}
}

// A commit that was told not to wait for its replica is no success, although PostgreSQL says so.
func TestCommitCancelled(t *testing.T) {
	db := openPostgres(t).(*postgres)
	do := func(statements ...string) {
		for _, one := range append(statements, "SELECT pg_reload_conf()") {
			_, err := db.db.Exec(one)
			must(t, err)
		}
	}
	do(`ALTER SYSTEM SET synchronous_standby_names = '"one that is away"'`)
	defer do("ALTER SYSTEM RESET synchronous_standby_names")
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(100 * time.Millisecond) { // until the setting holds
		err := db.try(time.Second, func(s session) error { return s.do("UPDATE meta SET generation = generation + 1") })
		if err != nil && isAway(marked(err)) {
			return
		}
		must(t, err)
	}
	t.Fatal("it is a success")
}

// No error has the password.
func TestPassword(t *testing.T) {
	for _, address := range []string{"postgres://u:secret@[::1/x", "mysql://u:secret@h/x", "postgres://u:secret@h:port/x", "postgres://u:secret@127.0.0.1:1/x",
		"postgres://u:secret@127.0.0.1:1/x?sslmode=secret", "host=h password=secret", "postgres://u:sec%ret@h/secret"} {
		if _, err := OpenPostgres(address, "a", 0); err == nil || strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}
