package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"sync"
)

// A compressor takes 800 KB of memory: a few of them are used again and again.
var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

var unpackers = sync.Pool{New: func() any { return new(gzip.Reader) }}

func pack(data []byte) []byte {
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	w.Write(data)
	w.Close()
	return packed.Bytes()
}

func unpack(packed []byte) ([]byte, error) {
	r := unpackers.Get().(*gzip.Reader)
	defer unpackers.Put(r)
	if err := r.Reset(bytes.NewReader(packed)); err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func unpackJSON(packed []byte, into any) error {
	text, err := unpack(packed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
