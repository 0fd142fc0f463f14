package main

import (
	"net"
	"testing"
)

// Addresses of the registries of RFC 6890 are not public, in each of their forms.
func TestIsPublic(t *testing.T) {
	for _, text := range []string{"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "0.0.0.0", "0.1.2.3", "100.64.0.1",
		"198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fdff::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
		"64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001::1", "no address"} {
		if isPublic(net.ParseIP(text)) {
			t.Error(text, "is public")
		}
	}
	for _, text := range []string{"1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if !isPublic(net.ParseIP(text)) {
			t.Error(text, "is not public")
		}
	}
}

// What cannot be a source is refused at the start.
func TestReadSource(t *testing.T) {
	for _, text := range []string{"", "unified", "unified=", "unified=example.org", "unified=ftp://example.org/", "unified=https:///x", "native=https://example.org/", "s3=https://example.org/",
		"unified=https://user:secret@example.org/", "unified=https://example.org/?x=1", "unified=file:///etc"} {
		if _, err := readSource(text, nil); err == nil {
			t.Error(text, "is taken")
		}
	}
	for text, place := range map[string]string{"unified=https://example.org": "https://example.org/", "ssqp=http://example.org:81/a/": "http://example.org:81/a/"} {
		if s, err := readSource(text, nil); err != nil || s.at.String() != place {
			t.Error(text, err)
		}
	}
}
