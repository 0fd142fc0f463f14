package main

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// cursor reads JSON of the tool once, from left to right, without a copy. encoding/json would take longer for
// an answer than the rest of the server's work.
type cursor struct {
	left []byte
	bad  bool
}

// Values in each other. The tool's answers have fewer.
const deepest = 200

func (c *cursor) fail() { c.left, c.bad = nil, true }

// next skips blanks and returns the next byte; 0: there is none.
func (c *cursor) next() byte {
	for len(c.left) > 0 && (c.left[0] == ' ' || c.left[0] == '\n' || c.left[0] == '\t' || c.left[0] == '\r') {
		c.left = c.left[1:]
	}
	if len(c.left) == 0 {
		return 0
	}
	return c.left[0]
}

// take skips one expected byte.
func (c *cursor) take(expected byte) {
	if c.next() != expected {
		c.fail()
		return
	}
	c.left = c.left[1:]
}

// rawString returns the bytes of a string with its quotes.
func (c *cursor) rawString() []byte {
	if c.next() != '"' {
		c.fail()
		return nil
	}
	for at := 1; ; at++ {
		step := bytes.IndexByte(c.left[at:], '"')
		if step < 0 {
			c.fail()
			return nil
		}
		at += step
		slashes := 0
		for c.left[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			raw := c.left[:at+1]
			c.left = c.left[at+1:]
			return raw
		}
	}
}

// text returns a string; of any other value the empty one.
func (c *cursor) text() string {
	if c.next() != '"' {
		c.skip()
		return ""
	}
	raw := c.rawString()
	if c.bad {
		return ""
	}
	return c.textOf(raw)
}

// textOf is the string of a value's bytes; of any other value the empty one.
func (c *cursor) textOf(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		c.fail()
	}
	return text
}

func (c *cursor) number() int {
	n, _ := strconv.Atoi(string(c.skip()))
	return n
}

func (c *cursor) truth() bool { return string(c.skip()) == "true" }

// members calls take for each member of an object. take reads the value.
func (c *cursor) members(take func(name []byte)) {
	c.list('{', '}', func() {
		name := c.rawString()
		c.take(':')
		if !c.bad {
			take(name[1 : len(name)-1])
		}
	})
}

// elements calls take for each element of an array. take reads the element.
func (c *cursor) elements(take func()) { c.list('[', ']', take) }

func (c *cursor) list(open, end byte, take func()) {
	if c.next() != open { // null, or another value
		c.skip()
		return
	}
	c.left = c.left[1:]
	for first := true; !c.bad; first = false {
		if c.next() == end {
			c.left = c.left[1:]
			return
		}
		if !first {
			c.take(',')
		}
		take()
	}
}

// skip returns the bytes of the next value.
func (c *cursor) skip() []byte {
	c.next()
	whole := c.left
	c.pass(0)
	if c.bad {
		return nil
	}
	return whole[:len(whole)-len(c.left)]
}

func (c *cursor) pass(depth int) {
	switch at := c.next(); {
	case depth > deepest || at == 0:
		c.fail()
	case at == '"':
		c.rawString()
	case at == '{':
		c.list('{', '}', func() { c.rawString(); c.take(':'); c.pass(depth + 1) })
	case at == '[':
		c.list('[', ']', func() { c.pass(depth + 1) })
	default:
		n := 0
		for n < len(c.left) && bytes.IndexByte([]byte(",]} \n\t\r"), c.left[n]) < 0 {
			n++
		}
		if !isPlain(c.left[:n]) && !json.Valid(c.left[:n]) {
			c.fail()
			return
		}
		c.left = c.left[n:]
	}
}

// isPlain recognises most values that are no strings. It takes less time than json.Valid, which knows all.
func isPlain(value []byte) bool {
	switch string(value) {
	case "true", "false", "null", "0":
		return true
	}
	for _, digit := range value {
		if digit < '0' || digit > '9' {
			return false
		}
	}
	return len(value) > 0 && value[0] != '0'
}
