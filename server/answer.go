package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// answer is a worker's answer to a request: docs/json.md, worker/1.
type answer struct {
	Reports []answerReport  `json:"reports"`
	Results json.RawMessage `json:"results,omitempty"`
	HTML    string          `json:"html,omitempty"`
	Error   *answerError    `json:"error,omitempty"`
}

type answerReport struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Brief json.RawMessage `json:"brief,omitempty"`
	Text  string          `json:"text,omitempty"`
	Uses  []struct {
		UUID, Name string
		Missing    bool
	} `json:"uses,omitempty"`
}

type answerError struct{ Kind, What string }

func (e *answerError) Error() string { return e.Kind + ": " + e.What }

// final says whether the error will recur for the same report. Other errors are temporary: memory, a disk, a
// time limit.
func (e *answerError) final() bool {
	return e.Kind != "memory" && e.Kind != "unread_image" && e.Kind != "limit" && e.Kind != "need"
}

// errNoReports stands for an answer without reports. It recurs, too.
var errNoReports = &answerError{"no_report", "an answer without reports"}

// errDamaged stands for a report that the database has no longer as it was. It recurs.
var errDamaged = &answerError{"damaged", errPacked.Error()}

// isFinal is false for a worker's death, because the next worker may survive.
func isFinal(err error) bool {
	var said *answerError
	return errors.As(err, &said) && said.final()
}

// crashRequest asks for forms of a report, with bytes of a buffer: a line, and the report after it as it is.
func crashRequest(buffer *bytes.Buffer, body []byte, want ...string) []byte {
	buffer.Reset()
	buffer.WriteString(`{"bytes":`)
	buffer.WriteString(strconv.Itoa(len(body)))
	buffer.WriteString(`,"do":"crash","want":["`)
	buffer.WriteString(strings.Join(want, `","`))
	buffer.WriteString("\"]}\n")
	buffer.Write(body)
	return buffer.Bytes()
}

// What a worker is asked for when a report arrives. Only the brief is kept. The full result is ten times as
// large, and is computed on request from the report and the symbols.
var kept = []string{"uses", "brief", "signature", "people"}

// outcome is the part of an answer that goes to the database.
type outcome struct {
	Reports []outcomeReport
	Error   *answerError
	seen    seenUses
}

// seenUses has uses by their JSON, because most reports use the same images. A nil one remembers nothing.
type seenUses map[string]Use

// Uses that are remembered for each worker, in some hundred KB. More are forgotten together.
const mostSeen = 2000

// read reads one use. Bytes that were a whole object before are one again.
func (s seenUses) read(c *cursor) (u Use) {
	c.next()
	whole := c.left[:bytes.IndexByte(c.left, '}')+1]
	if u, ok := s[string(whole)]; ok {
		c.left = c.left[len(whole):]
		return u
	}
	left := len(c.left)
	u = readUse(c)
	if s == nil || c.bad || left-len(c.left) != len(whole) { // of a name with such a bracket
		return u
	}
	if len(s) >= mostSeen {
		for one := range s {
			delete(s, one)
		}
	}
	s[string(whole)] = u
	return u
}

type outcomeReport struct {
	Brief           []byte // JSON
	Hash, Signature string
	Uses            []Use
	People          []string
}

var errAnswer = errors.New("no answer in JSON")

// read decodes a worker's line.
func (o *outcome) read(line []byte) error {
	c := &cursor{left: line}
	c.members(func(name []byte) {
		switch string(name) {
		case "reports":
			c.elements(func() { o.Reports = append(o.Reports, readReportOf(c, o.seen)) })
		case "error":
			o.Error = &answerError{}
			c.members(textsInto(c, map[string]*string{"kind": &o.Error.Kind, "what": &o.Error.What}))
		default:
			c.skip()
		}
	})
	if c.bad || c.next() != 0 {
		return errAnswer
	}
	return nil
}

// textsInto reads members that are texts, and skips others.
func textsInto(c *cursor, into map[string]*string) func([]byte) {
	return func(name []byte) {
		if to := into[string(name)]; to != nil {
			*to = c.text()
		} else {
			c.skip()
		}
	}
}

// Most reports use fewer images.
const mostlyUsed = 64

func readReportOf(c *cursor, seen seenUses) (r outcomeReport) {
	c.members(func(name []byte) {
		switch string(name) {
		case "brief":
			r.Brief = c.skip()
		case "hash":
			r.Hash = c.text()
		case "signature":
			r.Signature = c.text()
		case "people":
			c.elements(func() { r.People = append(r.People, c.text()) })
		case "uses":
			r.Uses = make([]Use, 0, mostlyUsed)
			c.elements(func() { r.Uses = append(r.Uses, seen.read(c)) })
		default:
			c.skip()
		}
	})
	return r
}

func readUse(c *cursor) (u Use) {
	c.members(func(member []byte) {
		switch string(member) {
		case "name":
			u.Name = c.text()
		case "uuid":
			u.UUID = c.text()
		case "has_debug_info":
			u.Symbols = c.truth()
		case "missing":
			u.Missing = c.truth()
		default:
			c.skip()
		}
	})
	return u
}

// resultOf makes the stored result from an answer.
func resultOf(said *outcome, generation int64) (Result, error) {
	if len(said.Reports) == 0 {
		return Result{}, errNoReports
	}
	first := said.Reports[0]
	r := Result{Answer: pack(said.kept()), Group: first.Hash, Title: first.Signature, Images: first.Uses, People: first.People, Generation: generation}
	for _, report := range said.Reports[1:] {
		r.Images = append(r.Images, report.Uses...)
		r.People = append(r.People, report.People...)
	}
	return r, nil
}

// kept is the answer with only its briefs.
func (o *outcome) kept() []byte {
	size := len(`{"reports":[]}`)
	for _, report := range o.Reports {
		size += len(`{"brief":},`) + len(report.Brief)
	}
	text := append(make([]byte, 0, size), `{"reports":[`...)
	for i, report := range o.Reports {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '{')
		if len(report.Brief) > 0 {
			text = append(append(text, `"brief":`...), report.Brief...)
		}
		text = append(text, '}')
	}
	return append(text, "]}"...)
}

// forms has the media type of each form, and the function that extracts it from an answer.
var forms = map[string]struct {
	kind string
	of   func(answerReport) []byte
}{
	"json":  {"application/jsonl", func(r answerReport) []byte { return append(r.JSON, '\n') }},
	"brief": {"application/jsonl", func(r answerReport) []byte { return append(r.Brief, '\n') }},
	"text":  {"text/plain; charset=utf-8", func(r answerReport) []byte { return []byte(r.Text) }},
	"html":  {"text/html; charset=utf-8", func(answerReport) []byte { return nil }}, // one page with all reports
}

// tell writes an answer in a form.
func (a *answer) tell(form string) []byte {
	var out bytes.Buffer
	out.WriteString(a.HTML)
	for _, r := range a.Reports {
		out.Write(forms[form].of(r))
	}
	return out.Bytes()
}

// people are those of all its reports.
func (o *outcome) people() (all []string) {
	for _, report := range o.Reports {
		all = append(all, report.People...)
	}
	return all
}
