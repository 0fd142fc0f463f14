package main

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// logger writes one JSON object on each line.
type logger struct {
	to   io.Writer
	lock *sync.Mutex
}

// say writes a level and pairs of names and values.
func (l logger) say(level string, pairs ...any) {
	line := map[string]any{"time": time.Now().UTC().Format(time.RFC3339Nano), "level": level}
	for i := 0; i+1 < len(pairs); i += 2 {
		line[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	l.to.Write(append(text, '\n'))
}

// Write lets net/http log here.
func (l logger) Write(text []byte) (int, error) {
	l.say("info", "http", string(text))
	return len(text), nil
}

// workerLog logs each line that a worker writes on its standard error.
type workerLog struct {
	log  logger
	rest []byte // of a line that has not ended
}

// A longer line is logged in parts.
const longestLine = 8 << 10

func (s *workerLog) Write(text []byte) (int, error) {
	s.rest = append(s.rest, text...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 && len(s.rest) < longestLine {
			return len(text), nil
		}
		line := s.rest
		if end >= 0 {
			line = s.rest[:end]
			end++
		} else {
			end = len(s.rest)
		}
		s.log.say("warning", "worker", string(line))
		s.rest = append(s.rest[:0], s.rest[end:]...)
	}
}

type metrics struct {
	registry                       *prometheus.Registry
	accepted, done, failed, deaths prometheus.Counter
	accept, work                   prometheus.Histogram
	requests                       *prometheus.CounterVec
}

var seconds = []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "machsym_" + name, Help: help})
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "machsym_" + name, Help: help, Buckets: seconds})
}

func newMetrics(db Database) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		accepted: counter("reports_accepted_total", "Reports that were new and are kept."),
		done:     counter("reports_done_total", "Results, those of reports that were done again among them."),
		failed:   counter("reports_failed_total", "Reports that were given up."),
		deaths:   counter("worker_deaths_total", "Workers that died or were killed at their deadline."),
		accept:   histogram("accept_seconds", "From the headers of a report to its commit."),
		work:     histogram("work_seconds", "From a worker's request to the commit of its result."),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "machsym_requests_total", Help: "Answers by status."}, []string{"status"}),
	}
	oldest := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "machsym_oldest_seconds", Help: "Age of the oldest report without a result."},
		func() float64 {
			counts, err := db.Counts()
			if err != nil {
				return -1
			}
			return counts.Oldest.Seconds()
		})
	m.registry.MustRegister(m.accepted, m.done, m.failed, m.deaths, m.accept, m.work, m.requests, oldest)
	return m
}
