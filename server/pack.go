package main

// #cgo LDFLAGS: -lzstd
// #define ZSTD_STATIC_LINKING_ONLY // for ZSTD_c_forceAttachDict; its functions are not called
// #include <zstd.h>
//
// static size_t step(ZSTD_CCtx *packer, void *out, size_t *out_len, const void *in, size_t *in_len, int end)
// {
//     ZSTD_outBuffer to = {out, *out_len, 0};
//     ZSTD_inBuffer from = {in, *in_len, 0};
//     size_t left = ZSTD_compressStream2(packer, &to, &from, end ? ZSTD_e_end : ZSTD_e_continue);
//     *out_len = to.pos;
//     *in_len = from.pos;
//     return left;
// }
//
// // A context that packs with a dictionary. NULL: no memory.
// static ZSTD_CCtx *new_packer(int level, int hash_log, int min_match, const void *dictionary, size_t len)
// {
//     ZSTD_CCtx *packer = ZSTD_createCCtx();
//     if (!packer)
//         return NULL;
//     ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, level);
//     ZSTD_CCtx_setParameter(packer, ZSTD_c_hashLog, hash_log);
//     ZSTD_CCtx_setParameter(packer, ZSTD_c_minMatch, min_match);
//     ZSTD_CCtx_setParameter(packer, ZSTD_c_forceAttachDict, ZSTD_dictForceAttach); // a library that refuses it takes longer
//     if (ZSTD_isError(ZSTD_CCtx_loadDictionary(packer, dictionary, len))) {
//         ZSTD_freeCCtx(packer);
//         return NULL;
//     }
//     return packer;
// }
//
// static size_t step_back(ZSTD_DCtx *unpacker, void *out, size_t *out_len, const void *in, size_t *in_len)
// {
//     ZSTD_outBuffer to = {out, *out_len, 0};
//     ZSTD_inBuffer from = {in, *in_len, 0};
//     size_t left = ZSTD_decompressStream(unpacker, &to, &from);
//     *out_len = to.pos;
//     *in_len = from.pos;
//     return left;
// }
import "C"

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the dictionary
	"encoding/json"
	"errors"
	"io"
	"sync"
	"unsafe"
)

// Common words of reports and briefs. Packed data refers to it, so it never changes.
//
//go:embed dictionary.txt
var dictionary []byte

// The fastest level. It packs reports as small as level 6 of gzip, in an eighth of the time.
const packLevel = 1

// Words of reports are long, so shorter matches are not looked for, and the table of matches stays in the fastest
// cache. A report then takes a quarter fewer instructions than with the level alone (with the dictionary attached, not
// copied), and is no larger.
const (
	packHashLog  = 13
	packMinMatch = 7
)

// Packed data was limited when it arrived. With a damaged length, unpacking takes at most this much memory.
const unpackedMost = 1 << 30

// A block of zstd has at least 4 bytes and holds at most 128 KB: RFC 8878 3.1.1.2.
const unpackedRatio = 128 << 10 / 4

// The dictionary, digested once. Each packer has its own.
var unpackWith = C.ZSTD_createDDict(address(dictionary), C.size_t(len(dictionary)))

// Buffers of reports, requests and what is packed. A new one each time would have most of the memory that is
// collected.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Larger buffers are not kept.
const largestBuffer = 1 << 20

func giveBuffer(b *bytes.Buffer) {
	if b.Cap() <= largestBuffer {
		buffers.Put(b)
	}
}

// room returns bytes of a buffer, to be written.
func room(b *bytes.Buffer, size int) []byte {
	b.Reset()
	b.Grow(size)
	return b.Bytes()[:size]
}

// A context takes some hundred KB of memory, so a few are reused.
var (
	packers   = make(chan *C.ZSTD_CCtx, 8)
	unpackers = make(chan *C.ZSTD_DCtx, 8)
)

func takePacker() *C.ZSTD_CCtx {
	select {
	case p := <-packers:
		return p
	default:
		p := C.new_packer(packLevel, packHashLog, packMinMatch, address(dictionary), C.size_t(len(dictionary)))
		if p == nil {
			panic("zstd: no memory")
		}
		return p
	}
}

func givePacker(p *C.ZSTD_CCtx) {
	select {
	case packers <- p:
	default:
		C.ZSTD_freeCCtx(p)
	}
}

func takeUnpacker() *C.ZSTD_DCtx {
	select {
	case u := <-unpackers:
		return u
	default:
		return C.ZSTD_createDCtx()
	}
}

func giveUnpacker(u *C.ZSTD_DCtx) {
	select {
	case unpackers <- u:
	default:
		C.ZSTD_freeDCtx(u)
	}
}

func pack(data []byte) []byte {
	packer, whole := takePacker(), buffers.Get().(*bytes.Buffer)
	defer givePacker(packer)
	defer giveBuffer(whole)
	packed := room(whole, int(C.ZSTD_compressBound(C.size_t(len(data)))))
	n := C.ZSTD_compress2(packer, address(packed), C.size_t(len(packed)), address(data), C.size_t(len(data)))
	if C.ZSTD_isError(n) != 0 {
		panic("zstd: " + C.GoString(C.ZSTD_getErrorName(n))) // no memory
	}
	return append([]byte(nil), packed[:n]...)
}

// Bytes that packStream reads and writes at a time.
const packAtATime = 128 << 10

// packStream writes all that it reads as one frame of zstd, without the dictionary.
func packStream(to io.Writer, from io.Reader) error {
	packer := C.ZSTD_createCCtx()
	defer C.ZSTD_freeCCtx(packer)
	in, out := make([]byte, packAtATime), make([]byte, packAtATime)
	for end := C.int(0); end == 0; {
		n, err := io.ReadFull(from, in)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			end = 1
		} else if err != nil {
			return err
		}
		for rest, left := in[:n], C.size_t(1); len(rest) > 0 || end == 1 && left > 0; {
			made, taken := C.size_t(len(out)), C.size_t(len(rest))
			left = C.step(packer, address(out), &made, address(rest), &taken, end)
			if C.ZSTD_isError(left) != 0 {
				return errors.New("zstd: " + C.GoString(C.ZSTD_getErrorName(left)))
			}
			if _, err := to.Write(out[:made]); err != nil {
				return err
			}
			rest = rest[taken:]
		}
	}
	return nil
}

// unpacking reads what it unpacks from frames of zstd, without the dictionary.
type unpacking struct {
	from     io.Reader
	unpacker *C.ZSTD_DCtx
	in, rest []byte
	end      error    // of from
	left     C.size_t // 0: a frame has ended
}

func newUnpacking(from io.Reader) io.ReadCloser {
	return &unpacking{from: from, unpacker: C.ZSTD_createDCtx(), in: make([]byte, packAtATime)}
}

func (u *unpacking) Read(into []byte) (int, error) {
	for len(into) > 0 {
		if len(u.rest) == 0 && u.end == nil {
			var n int
			n, u.end = u.from.Read(u.in)
			u.rest = u.in[:n]
		}
		if u.end != nil && u.end != io.EOF {
			return 0, u.end
		}
		made, taken := C.size_t(len(into)), C.size_t(len(u.rest))
		left := C.step_back(u.unpacker, address(into), &made, address(u.rest), &taken)
		if C.ZSTD_isError(left) != 0 {
			return 0, errPackedFile
		}
		if made > 0 || taken > 0 {
			u.left = left
		}
		u.rest = u.rest[taken:]
		if made > 0 {
			return int(made), nil
		}
		if u.end != nil && len(u.rest) == 0 {
			if u.left != 0 {
				return 0, io.ErrUnexpectedEOF
			}
			return 0, io.EOF
		}
	}
	return 0, nil
}

func (u *unpacking) Close() error {
	C.ZSTD_freeDCtx(u.unpacker)
	return nil
}

var errPackedFile = errors.New("what zstd packed in the file is damaged")

func address(data []byte) unsafe.Pointer {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Pointer(&data[0])
}

var errPacked = errors.New("what is packed in the database is damaged")

// unpack reads what pack wrote, and gzip, which databases before schema 3 contain.
func unpack(packed []byte) ([]byte, error) { return unpackInto(new(bytes.Buffer), packed) }

// unpackInto may return bytes of a buffer.
func unpackInto(buffer *bytes.Buffer, packed []byte) ([]byte, error) {
	if bytes.HasPrefix(packed, []byte{0x1F, 0x8B}) {
		return unpackGzip(packed)
	}
	size := C.ZSTD_getFrameContentSize(address(packed), C.size_t(len(packed)))
	if size > unpackedMost || size > C.ulonglong(len(packed))*unpackedRatio { // errors are larger than any size
		return nil, errPacked
	}
	data := room(buffer, int(size))
	unpacker := takeUnpacker()
	defer giveUnpacker(unpacker)
	n := C.ZSTD_decompress_usingDDict(unpacker, address(data), C.size_t(size), address(packed), C.size_t(len(packed)), unpackWith)
	if C.ZSTD_isError(n) != 0 || int(n) != len(data) {
		return nil, errPacked
	}
	return data, nil
}

func unpackGzip(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
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
