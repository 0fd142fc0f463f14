package main

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

const answerLine = `{"schema":"worker/1","line":1,"id":null,"reports":[{"format":"ips","brief":{"schema":"crash-brief/1","app":"demo \"1\" \\",` +
	`"where":[{"name":"a<b>"},{}],"n":-1.5e3},"uses":[{"name":"demo","more":[1,{}],"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58",` +
	`"has_debug_info":true,"missing":false},{"name":"\u00e9x\\\"","uuid":null,"missing":true},{"name":"y"}],"hash":"5e69","signature":"[Player skip:]\n"},{}],` +
	`"error":{"kind":"limit","what":"too \ud83d\ude00 long"},"missing":{"schema":"missing/1","missing":[{"uuid":"4C"},{"uuid":null,"name":"y"}]}}` + "\n"

// byLibrary reads the same as outcome.read.
func byLibrary(line []byte) (o outcome, err error) {
	var said struct {
		Reports []struct {
			Brief           json.RawMessage
			Hash, Signature string
			Uses            []struct {
				Name, UUID string
				Missing    bool
				Debug      bool `json:"has_debug_info"`
			}
		}
		Error *answerError
	}
	err = json.Unmarshal(line, &said)
	for _, r := range said.Reports {
		one := outcomeReport{Brief: r.Brief, Hash: r.Hash, Signature: r.Signature}
		for _, u := range r.Uses {
			one.Uses = append(one.Uses, Use{u.UUID, u.Name, u.Missing, u.Debug})
		}
		o.Reports = append(o.Reports, one)
	}
	o.Error = said.Error
	return o, err
}

// What is read of an answer is what encoding/json reads. Damaged answers never make it read outside of them.
func TestReadAnswer(t *testing.T) {
	var o outcome
	must(t, o.read([]byte(answerLine)))
	wanted, err := byLibrary([]byte(answerLine))
	must(t, err)
	if !reflect.DeepEqual(o, wanted) || len(o.Reports) != 2 || o.Reports[0].Uses[1].Name != `éx\"` || !o.Reports[0].Uses[0].Symbols || !o.Reports[0].Uses[1].Missing {
		t.Fatalf("%+v is not %+v", o, wanted)
	}
	var kept answer
	must(t, json.Unmarshal(o.kept(), &kept))
	if len(kept.Reports) != 2 || string(kept.Reports[0].Brief) != string(o.Reports[0].Brief) {
		t.Fatal("kept is", string(o.kept()))
	}
	for size := range answerLine[:len(answerLine)-1] {
		var o outcome
		if o.read([]byte(answerLine[:size])) == nil {
			t.Fatal("the first", size, "bytes are taken for all")
		}
	}
	seen := seenUses{}
	const marks = "{}[]\",:\\0 nx\x00"
	chance := rand.New(rand.NewSource(1))
	for i := 0; i < 20000; i++ {
		damaged := []byte(answerLine)
		for n := chance.Intn(3); n >= 0; n-- {
			damaged[chance.Intn(len(damaged))] = marks[chance.Intn(len(marks))]
		}
		var o outcome
		again := outcome{seen: seen}
		bad, badAgain := o.read(damaged), again.read(damaged)
		if again.seen = nil; bad != badAgain || !reflect.DeepEqual(o, again) {
			t.Fatalf("with what was seen before %s is %+v, not %+v", damaged, again, o)
		}
	}
	if len(seen) == 0 || len(seen) > mostSeen {
		t.Fatal(len(seen), "uses are remembered")
	}
	for _, wrong := range []string{`{"x":nonsense}`, `{"reports":[,]}`, `{"x":1,}`, `{"x" 1}`, `{} {}`, ``, `{"reports":"\"}`,
		`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`} {
		if o.read([]byte(wrong)) == nil {
			t.Errorf("it is taken: %.40s", wrong)
		}
	}
}

// The images and people of all reports of an answer are the result's; group and title are those of the first.
func TestResultOfSeveralReports(t *testing.T) {
	one, two, three := Use{UUID: "1", Name: "a"}, Use{UUID: "2", Name: "b", Missing: true}, Use{UUID: "3", Name: "c", Symbols: true}
	said := outcome{Reports: []outcomeReport{{Hash: "h", Signature: "s", Uses: []Use{one}, People: []string{"x"}},
		{Hash: "other", Signature: "other", Uses: []Use{two, three}, People: []string{"y", "z"}}, {}}}
	result, err := resultOf(&said, 7)
	must(t, err)
	if !reflect.DeepEqual(result.Images, []Use{one, two, three}) || strings.Join(result.People, "") != "xyz" || result.Group != "h" || result.Title != "s" || result.Generation != 7 {
		t.Fatalf("%+v", result)
	}
}
