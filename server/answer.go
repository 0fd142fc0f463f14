package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// answer is what a worker says of a request: docs/json.md, worker/1.
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
}

type answerError struct{ Kind, What string }

func (e *answerError) Error() string { return e.Kind + ": " + e.What }

// final says whether the same report has the same error each time. Others pass: memory, a disk, a limit of time.
func (e *answerError) final() bool {
	return e.Kind != "memory" && e.Kind != "unread_image" && e.Kind != "limit" && e.Kind != "need"
}

// errNoReports is of an answer that lacks them, as it would each time.
var errNoReports = &answerError{"no_report", "an answer without reports"}

// isFinal is false of a worker's death: the next one may live.
func isFinal(err error) bool {
	var said *answerError
	return errors.As(err, &said) && said.final()
}

// crashRequest asks for forms of a report. Bytes go as base64, which suits any report.
func crashRequest(body []byte, want ...string) []byte {
	return requestOf(`{"do":"crash","want":["`+strings.Join(want, `","`)+`"],"base64":"`, body)
}

func requestOf(begin string, body []byte) []byte {
	request := make([]byte, len(begin)+base64.StdEncoding.EncodedLen(len(body)), len(begin)+len(body)*4/3+16)
	copy(request, begin)
	base64.StdEncoding.Encode(request[len(begin):], body)
	return append(request, `"}`...)
}

// What is asked of a worker when a report has come. Of that the brief is kept. The whole result is ten times as large, and
// follows from the report and the symbols: it is made when somebody asks for it.
var kept = []string{"images", "brief", "signature"}

// missingRequest asks which images a report waits for: the tool knows which of them came with the system.
func missingRequest(body []byte) []byte { return requestOf(`{"do":"missing","base64":"`, body) }

// outcome is the part of an answer that the database is told.
type outcome struct {
	Reports []struct {
		Brief           json.RawMessage
		Hash, Signature string
		Images          []struct {
			Name, UUID, Path string
			Frames           int
			Debug            bool `json:"has_debug_info"`
		}
	}
	Error   *answerError
	Missing struct {
		Missing []struct{ UUID string }
	}
}

// resultOf makes what is kept of an answer. Images without debug info may be missing.
func resultOf(said *outcome, generation int64) (Result, error) {
	if len(said.Reports) == 0 {
		return Result{}, errNoReports
	}
	r := Result{Answer: pack(said.kept()), Group: said.Reports[0].Hash, Title: said.Reports[0].Signature, Generation: generation}
	for _, report := range said.Reports {
		for _, i := range report.Images {
			if i.Frames > 0 && i.UUID != "" {
				r.Images = append(r.Images, Use{i.UUID, i.Name, !i.Debug && !ofSystem(i.Path)})
			}
		}
	}
	return r, nil
}

// kept is an answer with the briefs only.
func (o *outcome) kept() []byte {
	only := answer{Reports: make([]answerReport, len(o.Reports))}
	for i, report := range o.Reports {
		only.Reports[i].Brief = report.Brief
	}
	line, _ := json.Marshal(only)
	return line
}

// ofSystem tells images of the system by their paths. It misses some: the tool is asked about those.
func ofSystem(path string) bool {
	return strings.HasPrefix(path, "/usr/lib/") || strings.HasPrefix(path, "/System/Library/")
}

func (r *Result) anyMissing() bool {
	for _, use := range r.Images {
		if use.Missing {
			return true
		}
	}
	return false
}

// onlyMissing marks as missing only the images that the tool lists.
func (r *Result) onlyMissing(said *outcome) {
	wanted := map[string]bool{}
	for _, m := range said.Missing.Missing {
		wanted[m.UUID] = true
	}
	for i := range r.Images {
		r.Images[i].Missing = wanted[r.Images[i].UUID]
	}
}

// forms says how an answer is told in each form, and of which type that is.
var forms = map[string]struct {
	kind string
	of   func(answerReport) []byte
}{
	"json":  {"application/jsonl", func(r answerReport) []byte { return append(r.JSON, '\n') }},
	"brief": {"application/jsonl", func(r answerReport) []byte { return append(r.Brief, '\n') }},
	"text":  {"text/plain; charset=utf-8", func(r answerReport) []byte { return []byte(r.Text) }},
	"html":  {"text/html; charset=utf-8", func(answerReport) []byte { return nil }}, // a page of all reports
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
