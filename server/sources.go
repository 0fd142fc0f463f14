package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	slashpath "path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Sources of symbols that others keep: over HTTP, and in buckets of S3 and its like. fetch.go asks them.

// source is one of them.
type source struct {
	name   string   // as the operator wrote it, without a password
	layout string   // unified, ssqp
	at     *url.URL // ends in a slash; of a bucket: its endpoint, the bucket, a prefix
	bucket *minio.Client
}

// errNoFile: the source says that it has no such file.
var errNoFile = errors.New("notfound")

// sourceFlags is --source and what goes with it.
type sourceFlags struct {
	sources, hosts, private listFlag
	timeout, retry          time.Duration
	cache                   int64 // megabytes
}

// listFlag is an option that may come several times.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, " ") }

func (l *listFlag) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// readSource reads LAYOUT=URL.
func readSource(text string, via http.RoundTripper) (*source, error) {
	layout, place, _ := strings.Cut(text, "=")
	at, err := url.Parse(place)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return nil, fmt.Errorf("--source %q: it is unified=URL, ssqp=URL or s3=URL/BUCKET, and the URL is one of http or https", text)
	}
	at.Path = strings.TrimSuffix(at.Path, "/") + "/"
	s := &source{name: text, layout: layout, at: at}
	switch layout {
	case "unified", "ssqp":
		return s, nil
	case "s3":
		if bucket, _ := s.object(""); bucket == "" {
			return nil, fmt.Errorf("--source %q: s3=URL/BUCKET", text)
		}
		s.layout = "unified"
		s.bucket, err = minio.New(at.Host, &minio.Options{Creds: credentials.NewEnvAWS(), Secure: at.Scheme == "https", Transport: via,
			Region: "us-east-1", BucketLookup: minio.BucketLookupPath})
		return s, err
	}
	return nil, fmt.Errorf("--source %q: a layout is unified, ssqp or s3", text)
}

// object splits a path of a bucket's URL.
func (s *source) object(file string) (bucket, key string) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(s.at.Path, "/"), "/")
	return bucket, prefix + file
}

// files are the paths where a source has the files of an image: debug info first.
func (s *source) files(uuid, name string) []string {
	low := strings.ToLower(strings.ReplaceAll(uuid, "-", ""))
	if s.layout == "unified" {
		return []string{low[:2] + "/" + low[2:] + "/debuginfo", low[:2] + "/" + low[2:] + "/executable"}
	}
	files := []string{"_.dwarf/mach-uuid-sym-" + low + "/_.dwarf"}
	if name = slashpath.Base(strings.ToLower(name)); name != "." && name != "/" && name != ".." {
		files = append(files, url.PathEscape(name)+"/mach-uuid-"+low+"/"+url.PathEscape(name))
	}
	return files
}

// open begins to read a file.
func (s *source) open(ctx context.Context, via http.RoundTripper, check func(*http.Request, []*http.Request) error, file string) (io.ReadCloser, error) {
	if s.bucket != nil {
		return s.openObject(ctx, file)
	}
	request, err := http.NewRequestWithContext(ctx, "GET", s.at.String()+file, nil)
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Client{Transport: via, CheckRedirect: check}).Do(request)
	if err != nil {
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return answer.Body, nil
	case http.StatusNotFound, http.StatusGone:
		err = errNoFile
	default:
		err = errors.New("the source says " + answer.Status)
	}
	answer.Body.Close()
	return nil, err
}

func (s *source) openObject(ctx context.Context, file string) (io.ReadCloser, error) {
	bucket, key := s.object(file)
	object, err := s.bucket.GetObject(ctx, bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	if _, err = object.Stat(); err == nil {
		return object, nil
	}
	object.Close()
	if code := minio.ToErrorResponse(err).Code; code == "NoSuchKey" {
		err = errNoFile
	}
	return nil, err
}

// ---- Where the server connects to ----

// guard permits connections to addresses of the Internet, and to those of hosts that the operator names.
type guard struct {
	hosts   map[string]bool // that a redirect may name
	private map[string]bool // host, or host:port
}

func newGuard(flags *sourceFlags) *guard {
	g := &guard{map[string]bool{}, map[string]bool{}}
	for _, host := range flags.hosts {
		g.hosts[strings.ToLower(host)] = true
	}
	for _, host := range flags.private {
		g.private[strings.ToLower(host)] = true
	}
	return g
}

// transport uses no proxy: its address would be checked, and not the host's.
func (g *guard) transport(timeout time.Duration) http.RoundTripper {
	return &http.Transport{DialContext: g.dial, ResponseHeaderTimeout: timeout, TLSHandshakeTimeout: timeout, MaxIdleConnsPerHost: 4,
		IdleConnTimeout: time.Minute, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10}
}

// dial checks each address that it connects to, after the name was looked up: a name may have a public address
// first and a private one later.
func (g *guard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 20 * time.Second}
	if !g.private[strings.ToLower(host)] && !g.private[strings.ToLower(addr)] {
		dialer.Control = func(_, actual string, _ syscall.RawConn) error {
			ip, _, err := net.SplitHostPort(actual)
			if err != nil || !isPublic(net.ParseIP(strings.SplitN(ip, "%", 2)[0])) {
				return fmt.Errorf("%s is at %s, which is no address of the Internet: name it with --source-private", host, actual)
			}
			return nil
		}
	}
	return dialer.DialContext(ctx, network, addr)
}

// Addresses that are of no use, or of a network inside, beside those that package net knows.
var notPublic = networks("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10")

func networks(texts ...string) (list []*net.IPNet) {
	for _, text := range texts {
		_, one, err := net.ParseCIDR(text)
		if err != nil {
			panic(err)
		}
		list = append(list, one)
	}
	return list
}

func isPublic(ip net.IP) bool {
	if ip == nil || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return false
	}
	for _, network := range notPublic {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

// redirects may go to the hosts of the sources, and those of --source-host, and from https to https only.
func (g *guard) check(request *http.Request, before []*http.Request) error {
	const most = 5
	switch {
	case len(before) >= most:
		return errors.New("more than " + strconv.Itoa(most) + " redirects")
	case request.URL.Scheme != "https" && (request.URL.Scheme != "http" || before[0].URL.Scheme == "https"):
		return errors.New("a redirect to " + request.URL.Scheme)
	case !g.hosts[strings.ToLower(request.URL.Host)] && !g.hosts[strings.ToLower(request.URL.Hostname())]:
		return errors.New("a redirect to " + request.URL.Host + ": name it with --source-host")
	}
	return nil
}
