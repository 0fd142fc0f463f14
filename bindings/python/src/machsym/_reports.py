"""Whole reports in this process, over flat_symbolicate of flat.h."""
import ctypes
import json
import threading
import uuid as _uuid
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Union

from ._core import (
    AnyPath,
    Image,
    Lines,
    _c_bytes,
    _c_path,
    _Error,
    _lib,
    _Lookups,
    _raise,
    _Reader,
    _ReportDesc,
    _text,
    _uuid_of,
    slices,
)

# machsym_report_form, in its order; "same" is not one of a report, but of an input.
_FORMS = ("text", "apple", "json", "brief", "summary", "signature")
# machsym_report_flags
_ALL, _FULL_PATHS, _FULL_NAMES, _NO_INLINE, _NO_FOLDED, _RAW_ADDRESSES, _SAME, _CHECK_STACK = (1 << bit for bit in range(8))
_IMAGES, _FRAMES = 1, 2


class ReportImage(NamedTuple):
    """A program or library that was loaded."""
    name: str
    path: str
    arch: str
    version: str
    uuid: Optional[_uuid.UUID]
    is_system: bool
    base: int
    end: int
    """0: not known."""
    frames: int
    missing: int
    """Frames in it without a name."""


class ReportFrame(NamedTuple):
    """One call. Of each frame the innermost inlined call comes first."""
    address: int
    thread: int
    is_crashed: bool
    """Whether its thread crashed."""
    is_inline: bool
    image: str
    name: str
    """Empty: not known."""
    path: str
    line: int
    """0: not known."""
    offset: int
    is_inferred: bool
    """With check_stack: the report lacks this caller."""
    doubt: str
    """With check_stack: why the frame before it cannot have been called from it; empty: nothing speaks against it."""


class Report(NamedTuple):
    """One report that was answered."""
    number: int
    """In its input, from 1 on; 0: it is the only one."""
    kind: str
    frame_count: int
    named: int
    missing: int
    cut_at: int
    """Where the input ends inside the report; 0: the report is whole."""
    images: List[ReportImage]
    frames: List[ReportFrame]
    written: Dict[str, bytes]
    """By the forms that were asked for."""

    @property
    def text(self) -> str:
        """The form "text"."""
        return _text(self.written["text"])

    @property
    def summary(self) -> str:
        """The form "summary"."""
        return _text(self.written["summary"])

    @property
    def json(self) -> Any:
        """The form "json", read: crash/1 of docs/json.md."""
        return json.loads(self.written["json"])


class Failure(NamedTuple):
    """A report that cannot be answered."""
    number: int
    why: str
    at: int
    """Its place in the input."""


class Symbolicated(NamedTuple):
    """What an input holds."""
    reports: List[Report]
    failures: List[Failure]
    same: bytes
    """The input with names put in; empty unless "same" was asked for, or when nothing was answered."""


class Symbols:
    """Files that answer reports: paths, images and maps. Of a path with several slices all answer. Any number of threads may
    share it; those that work at the same time have sessions of their own, which stay for later calls."""

    def __init__(self, files: Iterable[Union[AnyPath, Image]] = ()) -> None:
        self._lock = threading.Lock()
        self._free: Dict[int, List[_Lookups]] = {Lines.ATOS: [], Lines.PEOPLE: []}
        self._made: Set[_Lookups] = set()
        self._own: List[Image] = []
        self._images: List[Image] = []
        self._closed = False
        try:
            for file in files:
                self._images += [file] if isinstance(file, Image) else self._open(file)
        except BaseException:
            self.close()
            raise

    def _open(self, path: AnyPath) -> List[Image]:
        found = [Image(path, uuid=one.uuid) if one.uuid else Image(path, arch=one.arch) for one in slices(path)]
        self._own += found
        return found

    def __enter__(self) -> "Symbols":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def close(self) -> None:
        """Frees what it holds, and closes what it opened. Afterwards symbolicate raises ValueError."""
        with self._lock:
            made, self._made = self._made, set()
            self._closed = True
        for one in made:
            one.close()
            for image in self._images:
                image._sessions.discard(one)
        for image in self._own:
            image.close()

    def _take(self, lines: Lines) -> _Lookups:
        with self._lock:
            if self._closed:
                raise ValueError("the symbols are closed")
            if self._free[lines]:
                return self._free[lines].pop()
            handles = [image._open() for image in self._images]
            err = _Error()
            array = (ctypes.c_void_p * len(handles))(*handles)
            handle = _lib.flat_symbols_open(array, len(handles), int(lines), ctypes.byref(err))
            if not handle:
                _raise(err)
            taken = _Lookups(handle, _lib.flat_symbols_close)
            self._made.add(taken)
            for image in self._images:
                image._sessions.add(taken)
            return taken

    def _give(self, lines: Lines, taken: _Lookups) -> None:
        with self._lock:
            self._free[lines].append(taken)


def _report(read: _Reader, forms: Sequence[str]) -> Report:
    number, frames, named, missing, cut_at = read.numbers("IIIIQ")
    kind = read.text()
    images, calls = [], []
    for _ in range(read.numbers("I")[0]):
        base, end, marks, in_it, lacking = read.numbers("QQIII")
        uuid = _uuid_of(read.bytes(), marks & 1)
        images.append(ReportImage(read.text(), read.text(), read.text(), read.text(), uuid, marks & 2 != 0, base, end, in_it,
                                  lacking))
    for _ in range(read.numbers("I")[0]):
        address, thread, offset, line, marks = read.numbers("QQQII")
        calls.append(ReportFrame(address, thread, marks & 1 != 0, marks & 2 != 0, read.text(), read.text(), read.text(), line,
                                 offset, marks & 4 != 0, read.text()))
    written = {form: read.bytes() for form in forms}
    return Report(number, kind, frames, named, missing, cut_at, images, calls, written)


def _answer(data: bytes, symbols: Symbols, lines: Lines, forms: Sequence[str], flags: int, parts: int, name: Optional[AnyPath],
            redact: Optional[str]) -> Symbolicated:
    desc = _ReportDesc(input=data, len=len(data), name=_c_path(name) if name is not None else None,
                       redact=_c_bytes(redact.encode()) if redact is not None else None, flags=flags, parts=parts,
                       forms=sum(1 << _FORMS.index(form) for form in forms))
    err, length = _Error(), ctypes.c_size_t()
    taken = symbols._take(lines)
    try:
        with taken.lock:
            if not taken.handle:
                raise ValueError("an image is closed")
            found = _lib.flat_symbolicate(taken.handle, ctypes.byref(desc), ctypes.byref(length), ctypes.byref(err))
            if not found:
                _raise(err)
            read = _Reader(ctypes.string_at(found, length.value))
    finally:
        symbols._give(lines, taken)
    reports, failures = [], []
    while True:
        what, = read.numbers("I")
        if what == 1:
            reports.append(_report(read, forms))
        elif what == 2:
            number, at = read.numbers("IQ")
            failures.append(Failure(number, read.text(), at))
        else:
            return Symbolicated(reports, failures, read.bytes() if reports else b"")


def symbolicate(report: Union[bytes, bytearray, memoryview], symbols: Union[Symbols, Iterable[Union[AnyPath, Image]]] = (), *, forms: Union[str, Sequence[str]] = ("text",),
                name: Optional[AnyPath] = None, redact: Optional[str] = None, named_too: bool = False, full_paths: bool = False,
                full_names: bool = False, inline: bool = True, walk: bool = True, check_stack: bool = False) -> Symbolicated:
    """Puts names into all reports of an input, of any kind that `machsym crash` reads, in this process.

    forms: "same" (the input with names put in), "text", "apple", "json", "brief", "summary", "signature"; each is what
    `machsym crash` writes. name: of the input, in briefs. redact: words of a key, by which personal data and identifiers are
    replaced. named_too: frames that have a name are looked up, too. walk: reports have images and frames.
    check_stack: which frames cannot have called each other, by the code of the programs among the symbols, and callers that the
    report lacks; "apple" has nothing of it. Symbols that stay open between calls make it fast."""
    if not isinstance(report, (bytes, bytearray, memoryview)):
        raise TypeError("a report is bytes, not " + type(report).__name__)
    report = bytes(report)
    if isinstance(forms, str):
        forms = (forms,)
    wrong = [form for form in forms if form != "same" and form not in _FORMS]
    if wrong:
        raise ValueError("no such form: %s" % wrong[0])
    if not isinstance(symbols, Symbols):
        with Symbols(symbols) as opened:
            return symbolicate(report, opened, forms=forms, name=name, redact=redact, named_too=named_too, full_paths=full_paths,
                               full_names=full_names, inline=inline, walk=walk, check_stack=check_stack)
    flags = ((_ALL if named_too else 0) | (_FULL_PATHS if full_paths else 0) | (_FULL_NAMES if full_names else 0)
             | (0 if inline else _NO_INLINE))
    checks = _CHECK_STACK if check_stack else 0
    usual = [form for form in _FORMS if form in forms and form != "apple"]
    answer = None
    if usual or "apple" not in forms or "same" in forms:
        answer = _answer(report, symbols, Lines.PEOPLE, usual, flags | checks | (_SAME if "same" in forms else 0),
                         _IMAGES | _FRAMES if walk else 0, name, redact)
    if "apple" in forms:  # Apple's tools look other lines and addresses up
        apple = _answer(report, symbols, Lines.ATOS, ["apple"], flags | _RAW_ADDRESSES | _NO_FOLDED,
                        _IMAGES | _FRAMES if walk and answer is None else 0, name, redact)
        if answer is None:
            return apple
        for one, other in zip(answer.reports, apple.reports):
            one.written.update(other.written)
    assert answer is not None
    return answer
