package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lib/pq"
)

// hosts connects to that one of several PostgreSQL that takes changes: the primary. The others are its replicas.
type hosts struct {
	list      []*pq.Connector
	addresses []string // of one host each
	now       int32    // the one that took a connection last
}

// What a host needs to be told of a connection that was cut: it ends the transaction, whose locks others wait for.
var hostSettings = map[string]string{"connect_timeout": "5", "application_name": "machsym-server", "tcp_keepalives_idle": "10",
	"tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "20000", "idle_in_transaction_session_timeout": "60000"}

const userTimeout = 18 // TCP_USER_TIMEOUT, which package syscall lacks

// How long sent bytes may wait for the other machine's word of them.
const silence = 20 * time.Second

var errURL = errors.New("--database: it must be postgres://USER@HOST/NAME, with %XX for special characters; several hosts: HOST:PORT,HOST:PORT")

// hostsOf reads an address. No error has it, because it may contain a password.
func hostsOf(address string) (*hosts, error) {
	singles, err := singlesOf(address)
	if err != nil {
		return nil, err
	}
	h := &hosts{addresses: singles}
	for _, single := range singles {
		one, err := pq.NewConnector(single)
		if err != nil {
			return nil, errURL
		}
		one.Dialer(dialer{})
		h.list = append(h.list, one)
	}
	return h, nil
}

// singlesOf makes an address of each host, and adds what the rules need: locks work in this isolation only.
func singlesOf(address string) (singles []string, err error) {
	scheme, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?")
	if scheme != "postgres" && scheme != "postgresql" || end < 0 {
		return nil, errURL
	}
	who, places := "", rest[:end]
	if at := strings.LastIndexByte(places, '@'); at >= 0 {
		who, places = places[:at+1], places[at+1:]
	}
	for _, place := range strings.Split(places, ",") {
		parsed, err := url.Parse(scheme + "://" + who + place + rest[end:])
		if err != nil {
			return nil, errURL // that of url.Parse has the address
		}
		values := parsed.Query()
		if attributes := values.Get("target_session_attrs"); attributes != "" && attributes != "read-write" && attributes != "primary" {
			return nil, errors.New("--database: target_session_attrs can be read-write only: the server writes")
		}
		values.Del("target_session_attrs")
		for name, value := range hostSettings {
			if !values.Has(name) {
				values.Set(name, value)
			}
		}
		values.Set("default_transaction_isolation", "read committed")
		values.Set("binary_parameters", "yes")
		folders := strings.Split(values.Get("host"), ",") // sockets
		if len(folders) > 1 && values.Has("port") && strings.Count(values.Get("port"), ",") != len(folders)-1 && strings.Contains(values.Get("port"), ",") {
			return nil, errors.New("--database: as many ports as hosts, or one")
		}
		ports := strings.Split(values.Get("port"), ",")
		for i, folder := range folders {
			if folder != "" {
				values.Set("host", folder)
			}
			if port := ports[i%len(ports)]; port != "" {
				values.Set("port", port)
			}
			parsed.RawQuery = values.Encode()
			singles = append(singles, parsed.String())
		}
	}
	return singles, nil
}

// Connect tries the host that took the last connection, and then the others.
func (h *hosts) Connect(until context.Context) (driver.Conn, error) {
	var first error
	begin := int(atomic.LoadInt32(&h.now))
	for i := range h.list {
		at := (begin + i) % len(h.list)
		conn, err := h.connect(until, at)
		if err == nil {
			atomic.StoreInt32(&h.now, int32(at))
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (h *hosts) connect(until context.Context, at int) (driver.Conn, error) {
	made, err := h.list[at].Connect(until)
	if err != nil {
		return nil, err
	}
	conn := &connection{whole: made.(whole), known: map[string]driver.Stmt{}}
	if len(h.list) == 1 {
		return conn, nil
	}
	reads, err := readsOnly(until, conn)
	if err == nil && reads {
		err = errReplica
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	return conn, nil
}

var errReplica = errors.New("this host is a replica")

func readsOnly(until context.Context, conn driver.QueryerContext) (bool, error) {
	found, err := conn.QueryContext(until, "SHOW transaction_read_only", nil)
	if err != nil {
		return false, err
	}
	defer found.Close()
	value := make([]driver.Value, 1)
	if err := found.Next(value); err != nil {
		return false, err
	}
	switch text := value[0].(type) {
	case string:
		return text != "off", nil
	case []byte:
		return string(text) != "off", nil
	}
	return true, nil
}

func (h *hosts) Driver() driver.Driver { return h.list[0].Driver() }

// address is that of the host that took the last connection.
func (h *hosts) address() string { return h.addresses[atomic.LoadInt32(&h.now)] }

// dialer makes connections that end when the other machine is silent. Otherwise they would wait for many minutes.
type dialer struct{}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	soon, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(soon, network, address)
}

func (d dialer) DialContext(until context.Context, network, address string) (net.Conn, error) {
	by := net.Dialer{KeepAlive: 5 * time.Second, Control: func(network, _ string, raw syscall.RawConn) (err error) {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		failed := raw.Control(func(file uintptr) {
			err = syscall.SetsockoptInt(int(file), syscall.IPPROTO_TCP, userTimeout, int(silence/time.Millisecond))
		})
		if failed != nil {
			return failed
		}
		return err
	}}
	return by.DialContext(until, network, address)
}

// whole is what a connection of the driver can do.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// connection prepares each text with values once, because PostgreSQL needs more time to read a text than to run it.
// There is a fixed number of texts.
type connection struct {
	whole
	known map[string]driver.Stmt
}

func (c *connection) prepared(until context.Context, text string) (driver.Stmt, error) {
	if known, ok := c.known[text]; ok {
		return known, nil
	}
	made, err := c.whole.PrepareContext(until, text)
	if err != nil {
		return nil, err
	}
	c.known[text] = made
	return made, nil
}

func (c *connection) ExecContext(until context.Context, text string, values []driver.NamedValue) (driver.Result, error) {
	if len(values) == 0 {
		return c.whole.ExecContext(until, text, values)
	}
	made, err := c.prepared(until, text)
	if err != nil {
		return nil, err
	}
	return made.(driver.StmtExecContext).ExecContext(until, values)
}

func (c *connection) QueryContext(until context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	if len(values) == 0 {
		return c.whole.QueryContext(until, text, values)
	}
	made, err := c.prepared(until, text)
	if err != nil {
		return nil, err
	}
	return made.(driver.StmtQueryContext).QueryContext(until, values)
}
