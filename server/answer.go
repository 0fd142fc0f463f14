package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// answer is what a worker says of a request: docs/json.md, worker/1.
type answer struct {
	Reports []answerReport  `json:"reports"`
	Results json.RawMessage `json:"results"`
	Error   *answerError    `json:"error"`
	Missing struct {
		Missing []struct{ UUID string } `json:"missing"`
	} `json:"missing"`
}

type answerReport struct {
	JSON      json.RawMessage `json:"json"`
	Brief     json.RawMessage `json:"brief"`
	Text      string          `json:"text"`
	Hash      string          `json:"hash"`
	Signature string          `json:"signature"`
}

type answerError struct{ Kind, What string }

func (e *answerError) Error() string { return e.Kind + ": " + e.What }

// final says whether the same report has the same error each time. Others pass: memory, a disk, a limit of time.
func (e *answerError) final() bool {
	return e.Kind != "memory" && e.Kind != "unread_image" && e.Kind != "limit" && e.Kind != "need"
}

// crashRequest asks for all that the server tells of a report. Bytes go as base64, which suits any report.
func crashRequest(body []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"do": "crash", "base64": body, "want": []string{"json", "brief", "text", "signature"}})
}

// missingRequest asks which images a report waits for: the tool knows which of them came with the system.
func missingRequest(body []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"do": "missing", "base64": body})
}

// resultOf makes what is kept of an answer.
func resultOf(a *answer, line []byte, generation int64) (Result, error) {
	if len(a.Reports) == 0 {
		return Result{}, errors.New("an answer without reports")
	}
	r := Result{Answer: pack(line), Group: a.Reports[0].Hash, Title: a.Reports[0].Signature, Generation: generation}
	for _, report := range a.Reports {
		if err := r.addImages(report.JSON); err != nil {
			return Result{}, err
		}
	}
	return r, nil
}

// addImages takes the images that frames lie in. Those without debug info may be missing.
func (r *Result) addImages(crash json.RawMessage) error {
	var facts struct {
		Images []struct {
			Name, UUID string
			Frames     int
			Debug      bool `json:"has_debug_info"`
		}
	}
	if err := json.Unmarshal(crash, &facts); err != nil {
		return err
	}
	for _, i := range facts.Images {
		if i.Frames > 0 && i.UUID != "" {
			r.Images = append(r.Images, Use{i.UUID, i.Name, !i.Debug})
		}
	}
	return nil
}

func (r *Result) anyMissing() bool {
	for _, use := range r.Images {
		if use.Missing {
			return true
		}
	}
	return false
}

// onlyMissing leaves as missing what the tool calls so.
func (r *Result) onlyMissing(a *answer) {
	wanted := map[string]bool{}
	for _, m := range a.Missing.Missing {
		wanted[m.UUID] = true
	}
	for i := range r.Images {
		r.Images[i].Missing = wanted[r.Images[i].UUID]
	}
}

// tell writes a stored answer in the form that the caller wants, and says which type that is.
func tell(packed []byte, form string) (text []byte, kind string, err error) {
	line, err := unpack(packed)
	if err != nil {
		return nil, "", err
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	kind = "application/jsonl"
	for _, r := range a.Reports {
		switch form {
		case "", "json":
			out.Write(append(r.JSON, '\n'))
		case "brief":
			out.Write(append(r.Brief, '\n'))
		case "text":
			out.WriteString(r.Text)
			kind = "text/plain; charset=utf-8"
		default:
			return nil, "", fmt.Errorf("as=%s: it may be json, brief or text", form)
		}
	}
	if kind != "text/plain; charset=utf-8" && len(a.Reports) == 1 {
		kind = "application/json"
	}
	return out.Bytes(), kind, nil
}
