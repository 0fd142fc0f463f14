package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// loadDemo sends the reports of the fixtures, and then their dSYM, as apps and a team's build machine would.
func loadDemo(base, token, fixtures string, say logger) {
	reports, _ := filepath.Glob(fixtures + "/reports/*")
	more, _ := filepath.Glob(fixtures + "/apple/*.ips")
	for _, path := range append(reports, more...) {
		if err := sendFile(base+"/reports", token, path); err != nil {
			say.say("error", "demo", path, "why", err.Error())
		}
	}
	dwarf := fixtures + "/bin/demo.app.dSYM/Contents/Resources/DWARF/demo"
	if err := sendFile(base+"/symbols?name="+url.QueryEscape("demo"), token, dwarf); err != nil {
		say.say("error", "demo", dwarf, "why", err.Error())
	}
}

func sendFile(to, token, path string) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	request, err := http.NewRequest("POST", to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return nil
}
