"""The package, over the functions of flat.h, which lie in the shared library beside this file."""
import ctypes
import enum
import os
import struct
import sys
import threading
import uuid as _uuid
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, Type, Union, overload

AnyPath = Union[str, "os.PathLike[str]"]


def _c_bytes(text: bytes) -> bytes:
    """Text as C takes it: it would end at a zero."""
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def _c_path(path: AnyPath) -> bytes:
    return _c_bytes(os.fsencode(path))


AnyUuid = Union[str, _uuid.UUID]


# ---- flat.h ----

class _Desc(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("bytes", ctypes.c_void_p), ("len", ctypes.c_size_t),
                ("pair_path", ctypes.c_char_p), ("arch", ctypes.c_char_p), ("uuid", ctypes.c_char_p),
                ("entry", ctypes.c_char_p), ("prefixes", ctypes.POINTER(ctypes.c_char_p)),
                ("prefix_count", ctypes.c_size_t), ("dirs", ctypes.POINTER(ctypes.c_char_p)),
                ("dir_count", ctypes.c_size_t), ("flags", ctypes.c_uint32), ("read", ctypes.c_void_p),
                ("read_user", ctypes.c_void_p), ("read_size", ctypes.c_uint64)]


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("os_errno", ctypes.c_int32), ("offset", ctypes.c_uint64),
                ("text", ctypes.c_char * 2048)]


class _ReportDesc(ctypes.Structure):
    _fields_ = [("input", ctypes.c_char_p), ("len", ctypes.c_size_t), ("name", ctypes.c_char_p), ("redact", ctypes.c_char_p),
                ("flags", ctypes.c_uint32), ("forms", ctypes.c_uint32), ("parts", ctypes.c_uint32)]


def _load() -> Any:
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_machsym" + suffix))
    handle, size, text, error = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(_Error)
    u32, i32, u64 = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64
    desc = ctypes.POINTER(_Desc)
    declare: Dict[str, Tuple[Any, List[Any]]] = {
        "version": (text, []),
        "result_name": (text, [i32]),
        "source_name": (text, [i32]),
        "demangle": (size, [text, size, u32, text, size]),
        "slices": (size, [desc, text, size, error]),
        "info": (size, [handle, text, size]),
        "open": (handle, [desc, error]),
        "close": (None, [handle]),
        "addr": (u64, [handle, u64, u64]),
        "map_build": (handle, [handle, i32, u32, error]),
        "map_bytes": (handle, [handle, ctypes.POINTER(size)]),
        "map_save": (ctypes.c_int, [handle, text, error]),
        "session_open": (handle, [handle, i32, u32, error]),
        "session_close": (None, [handle]),
        "symbols_open": (handle, [ctypes.POINTER(handle), size, i32, error]),
        "symbols_close": (None, [handle]),
        "symbolicate": (handle, [handle, ctypes.POINTER(_ReportDesc), ctypes.POINTER(size), error]),
        "lookup": (handle, [handle, ctypes.c_int, u64, u32, ctypes.POINTER(u64), size, ctypes.POINTER(size)]),
    }
    for name, (result, arguments) in declare.items():
        function = getattr(lib, "flat_" + name)
        function.restype = result
        function.argtypes = arguments
    return lib


_lib = _load()


def _sources() -> List[str]:
    names: List[str] = []
    while True:
        name = _lib.flat_source_name(len(names)).decode()
        if name == "?":
            return names
        names.append(name)


_SOURCES = _sources()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


class _Reader:
    """Reads what flat.c wrote."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def numbers(self, layout: str) -> Tuple[int, ...]:
        found = struct.unpack_from("=" + layout, self.raw, self.at)
        self.at += struct.calcsize("=" + layout)
        return found

    def bytes(self) -> bytes:
        length, = self.numbers("I")
        self.at += length
        return self.raw[self.at - length:self.at]

    def text(self) -> str:
        return _text(self.bytes())


def _filled(function: Callable[..., int], *before: Any, after: Sequence[Any] = ()) -> bytes:
    """What a function writes that tells how much room it needs."""
    cap = 1024
    while True:
        out = ctypes.create_string_buffer(cap)
        need = function(*before, out, cap, *after)
        if need < cap:
            return out.raw[:need]
        cap = need + 1


# ---- What a program sees ----

class Error(Exception):
    """What cannot be opened, built or written, as a sentence. `code` is the name of the machsym_result, as "ERR_ARCH";
    `offset` is where in the file."""

    def __init__(self, text: str, code: str, offset: int = 0) -> None:
        super().__init__(text)
        self.code = code
        self.offset = offset


class MissingError(Error, FileNotFoundError):
    """There is no such file."""


class ArchError(Error):
    """The file has no slice of that architecture or UUID, or has several and none was chosen."""


def _raise(err: _Error) -> None:
    code = _lib.flat_result_name(err.code).decode()
    text = _text(err.text)
    if code == "ERR_MEMORY":
        raise MemoryError(text)
    if code in ("ERR_ARCH", "ERR_UUID", "ERR_AMBIGUOUS"):
        raise ArchError(text, code, err.offset)
    if err.os_errno == 2:
        raise MissingError(text, code, err.offset)
    raise Error(text, code, err.offset)


class Lines(enum.IntEnum):
    """Which row of the line table answers."""
    ATOS = 0
    DWARF = 1
    STMT = 2
    PEOPLE = 3


class Frame(NamedTuple):
    """One function at an address, concrete or inlined."""
    name: str
    """In source form."""
    linkage_name: str
    file: str
    line: int
    """0: not known."""
    column: int
    inline: bool
    function_start: int
    function_size: int
    name_source: str
    """"dwarf", "symtab" and so on; "none"."""
    line_source: str
    lacks_callers: bool = False
    """Calls are left out between this frame and the next: more are inlined into each other than an answer has."""


# Numbers of <mach-o/loader.h>, in the words of `machsym info`.
_PLATFORMS = ("unknown", "macOS", "iOS", "tvOS", "watchOS", "bridgeOS", "Mac Catalyst", "iOS simulator", "tvOS simulator",
              "watchOS simulator", "DriverKit", "visionOS", "visionOS simulator")
_FILETYPES = ("?", "OBJECT", "EXECUTE", "FVMLIB", "CORE", "PRELOAD", "DYLIB", "DYLINKER", "BUNDLE", "DYLIB_STUB", "DSYM",
              "KEXT", "FILESET")


def _word(words: Sequence[str], number: int) -> str:
    return words[number] if number < len(words) else words[0]


def _release(number: int) -> str:
    """14.3 or 14.3.1; nothing for 0."""
    last = ".%d" % (number & 0xff) if number & 0xff else ""
    return "%d.%d%s" % (number >> 16, number >> 8 & 0xff, last) if number else ""


class Slice(NamedTuple):
    """One architecture of a file."""
    arch: str
    uuid: Optional[_uuid.UUID]
    filetype: str
    """"DSYM", "EXECUTE", "DYLIB" and so on; "?"."""
    offset: int
    size: int


class Info(NamedTuple):
    """What is known of an open file."""
    is_map: bool
    lines: Optional[Lines]
    """Of a map: for which policy it was built."""
    arch: str
    uuid: Optional[_uuid.UUID]
    name: str
    path: str
    pair_path: str
    filetype: str
    """"DSYM", "EXECUTE", "DYLIB" and so on; "?"."""
    platform: str
    """"macOS", "iOS" and so on; "unknown"."""
    min_os: str
    """"14.3"; "" when it is not known."""
    sdk: str
    has_dwarf: bool
    damage_count: int
    is_cut_short: bool
    text_addr: int
    text_size: int


def version() -> str:
    """That of machsym.h."""
    return _lib.flat_version().decode()  # type: ignore[no-any-return]


def _name_flags(full_names: bool) -> int:
    return 0 if full_names else 1


@overload
def demangle(name: str, full_names: bool = ...) -> str: ...
@overload
def demangle(name: Union[List[str], Tuple[str, ...]], full_names: bool = ...) -> List[str]: ...


def demangle(name: Union[str, List[str], Tuple[str, ...]], full_names: bool = False) -> Union[str, List[str]]:
    """The source form of a mangled C++, Swift, Rust or D name, or of each name of a list; any other name as it is. Swift names
    as crash reports print them; with full_names with modules and types."""
    flags = _name_flags(full_names)
    if isinstance(name, str):
        return _demangled(name, flags)
    return [_demangled(one, flags) for one in name]


def _demangled(name: str, flags: int) -> str:
    raw = name.encode("utf-8", "surrogateescape")
    return _text(_filled(_lib.flat_demangle, raw, len(raw), flags))


def _strings(texts: Sequence[bytes]) -> Any:
    return (ctypes.c_char_p * len(texts))(*texts) if texts else None


def _describe(path: Optional[AnyPath], data: Optional[bytes] = None, **how: Any) -> _Desc:
    if (path is None) == (data is None):
        raise TypeError("a path or the file's bytes, one of the two")
    uuid: Optional[AnyUuid] = how.get("uuid")
    prefixes = [_c_path(end) for pair in how.get("oso_prefixes", ()) for end in pair]
    dirs = [_c_path(folder) for folder in how.get("oso_dirs", ())]
    raw = _uuid.UUID(str(uuid)).bytes if uuid is not None else None
    pair = how.get("pair")
    arch = how.get("arch")
    entry = how.get("entry")
    desc = _Desc(path=_c_path(path) if path is not None else None,
                 pair_path=_c_path(pair) if pair is not None else None,
                 arch=arch.encode() if arch else None, uuid=raw, entry=entry.encode() if entry else None,
                 prefixes=_strings(prefixes), prefix_count=len(prefixes) // 2, dirs=_strings(dirs), dir_count=len(dirs),
                 flags=1 if how.get("copy") else 0)
    if data is not None:
        desc.bytes = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
        desc.len = len(data)
    return desc


def _uuid_of(raw: bytes, has: int) -> Optional[_uuid.UUID]:
    return _uuid.UUID(bytes=raw) if has else None


def slices(path: AnyPath) -> List[Slice]:
    """The architectures of a file."""
    err = _Error()
    raw = _filled(_lib.flat_slices, ctypes.byref(_describe(path)), after=(ctypes.byref(err),))
    if not raw:
        _raise(err)
    read = _Reader(raw)
    found = []
    for _ in range(read.numbers("I")[0]):
        filetype, has_uuid, offset, size = read.numbers("IIQQ")
        uuid = _uuid_of(read.bytes(), has_uuid)
        found.append(Slice(read.text(), uuid, _word(_FILETYPES, filetype), offset, size))
    return found


class _Closes:
    def close(self) -> None:
        raise NotImplementedError

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


class _Lookups:
    """What a Session and its image share, so that whichever is closed or collected first closes it."""

    def __init__(self, handle: int, close: Callable[[int], None] = _lib.flat_session_close) -> None:
        self.lock = threading.Lock()
        self.handle: Optional[int] = handle
        self._close = close

    def close(self) -> None:
        with self.lock:
            handle, self.handle = self.handle, None
            if handle:
                self._close(handle)


class Session(_Closes):
    """Lookups in an image or a map, with what they have decoded so far. Image.session opens one."""

    def __init__(self, image: "Image", lines: Optional[Lines] = None, best_line: bool = False,
                 full_names: bool = False) -> None:
        self._image = image
        self._names = _name_flags(full_names)
        err = _Error()
        policy = -1 if lines is None else int(lines)
        handle = _lib.flat_session_open(image._open(), policy, 1 if best_line else 0, ctypes.byref(err))
        if not handle:
            _raise(err)
        self._lookups = _Lookups(handle)
        image._sessions.add(self._lookups)

    def __enter__(self) -> "Session":
        return self

    def close(self) -> None:
        """Frees what it holds. Afterwards lookups raise ValueError."""
        self._lookups.close()
        self._image._sessions.discard(self._lookups)

    def __del__(self) -> None:
        if hasattr(self, "_lookups"):
            self.close()

    def lookup(self, addresses: Iterable[int], load: Optional[int] = None) -> List[List[Frame]]:
        """The frames at each address, the innermost inlined call first; none where nothing is known."""
        wanted = addresses if isinstance(addresses, (list, tuple)) else list(addresses)
        length = ctypes.c_size_t()
        array = (ctypes.c_uint64 * len(wanted))(*wanted)
        with self._lookups.lock:
            if not self._lookups.handle:
                raise ValueError("the session is closed")
            if not wanted:
                return []
            found = _lib.flat_lookup(self._lookups.handle, load is not None, load or 0, self._names, array, len(wanted),
                                     ctypes.byref(length))
            if not found:
                raise MemoryError("a lookup had no memory")
            raw = ctypes.string_at(found, length.value)
        return _frames(raw, len(wanted))

    def frames(self, address: int, load: Optional[int] = None) -> List[Frame]:
        """The frames at one address. Many at once are faster."""
        return self.lookup((address,), load)[0]


_COUNTS = struct.Struct("=II")
_FRAME = struct.Struct("=QQIIIIIIII")


def _frames(raw: bytes, count: int) -> List[List[Frame]]:
    """What flat_lookup wrote; see flat.h."""
    text_count, frame_count = _COUNTS.unpack_from(raw)
    numbers = struct.unpack_from("=%dI" % (text_count + count), raw, _COUNTS.size)
    at = _COUNTS.size + 4 * len(numbers)
    end = at + _FRAME.size * frame_count
    texts = []
    lo = end
    for length in numbers[:text_count]:
        texts.append(_text(raw[lo:lo + length]))
        lo += length
    frames = [Frame(texts[name], texts[linkage], texts[file], line, column, marks & 1 != 0, start, size, _SOURCES[by],
                    _SOURCES[line_by], marks & 2 != 0)
              for start, size, line, column, marks, by, line_by, name, linkage, file
              in _FRAME.iter_unpack(raw[at:end])]
    answers = []
    at = 0
    for number in numbers[text_count:]:
        answers.append(frames[at:at + number])
        at += number
    return answers


class Image(_Closes):
    """A Mach-O file or a .dSYM bundle.

    `path` or `data` is the file. `arch` or `uuid` chooses the slice of a fat file, `entry` the image of a kernel collection;
    `pair` is the other half, the binary to a dSYM or the dSYM to a binary. The object files of a program without a dSYM are
    looked for where they were, with prefixes replaced (`oso_prefixes`: pairs of from, to), and in `oso_dirs`. `copy` reads
    files into memory first: safe when other processes may truncate them."""

    def __init__(self, path: Optional[AnyPath] = None, *, data: Optional[bytes] = None, arch: Optional[str] = None,
                 uuid: Optional[AnyUuid] = None, entry: Optional[str] = None, pair: Optional[AnyPath] = None,
                 oso_prefixes: Sequence[Tuple[str, str]] = (), oso_dirs: Sequence[AnyPath] = (),
                 copy: bool = False) -> None:
        desc = _describe(path, data, arch=arch, uuid=uuid, entry=entry, pair=pair, oso_prefixes=oso_prefixes,
                         oso_dirs=oso_dirs, copy=copy)
        err = _Error()
        handle = _lib.flat_open(ctypes.byref(desc), ctypes.byref(err))
        if not handle:
            _raise(err)
        self._take(handle, data)

    def _take(self, handle: int, data: Optional[bytes]) -> None:
        self._data = data  # must outlive the image
        self._lock = threading.Lock()
        self._handle: Optional[int] = handle
        self._sessions: Set[_Lookups] = set()
        self._own: Optional[Session] = None

    def __enter__(self) -> "Image":
        return self

    def _open(self) -> int:
        if not self._handle:
            raise ValueError("the image is closed")
        return self._handle

    def close(self) -> None:
        """Closes the file and all its sessions. Afterwards lookups raise ValueError."""
        if not getattr(self, "_handle", None):
            return
        with self._lock:
            for session in list(self._sessions):
                session.close()
            handle, self._handle = self._handle, None
            if handle:
                _lib.flat_close(handle)
            self._data = None

    def __del__(self) -> None:
        self.close()

    @property
    def info(self) -> Info:
        """What is known of the file."""
        read = _Reader(_filled(_lib.flat_info, self._open()))
        is_map, lines, filetype, has_uuid, platform, min_os, sdk, has_dwarf, damage, is_cut = read.numbers("10I")
        addr, size = read.numbers("QQ")
        uuid = _uuid_of(read.bytes(), has_uuid)
        return Info(is_map != 0, Lines(lines) if is_map else None, read.text(), uuid, read.text(), read.text(), read.text(),
                    _word(_FILETYPES, filetype), _word(_PLATFORMS, platform), _release(min_os), _release(sdk), has_dwarf != 0,
                    damage, is_cut != 0, addr, size)

    def addr(self, load: int, pc: int) -> int:
        """The file's address that a runtime address stands for."""
        return _lib.flat_addr(self._open(), load, pc)  # type: ignore[no-any-return]

    def session(self, lines: Optional[Lines] = None, *, best_line: bool = False, full_names: bool = False) -> Session:
        """Opens a session: one for each thread that is to work at the same time. Without `lines` a map answers by its own
        policy, another file by Lines.ATOS. With `best_line` a frame of line 0 takes the line of the nearest that has one;
        with `full_names` Swift names have modules and types."""
        return Session(self, lines, best_line, full_names)

    def lookup(self, addresses: Iterable[int], load: Optional[int] = None) -> List[List[Frame]]:
        """Session.lookup, of a session that the image keeps for this."""
        with self._lock:
            self._open()
            if self._own is None:
                self._own = self.session()
            own = self._own
        return own.lookup(addresses, load)

    def frames(self, address: int, load: Optional[int] = None) -> List[Frame]:
        """The frames at one address. Many at once are faster."""
        return self.lookup((address,), load)[0]


class Map(Image):
    """A .symmap: an image that was resolved once. `path` or `data` is the map; `Map.build` makes one."""

    def __init__(self, path: Optional[AnyPath] = None, *, data: Optional[bytes] = None, copy: bool = False) -> None:
        super().__init__(path, data=data, copy=copy)
        if not self.info.is_map:
            self.close()
            raise Error("%s: it is no symbol map" % (path if path is not None else "the bytes"), "ERR_FORMAT")

    def __enter__(self) -> "Map":
        return self

    @classmethod
    def build(cls, image: Image, lines: Lines = Lines.ATOS, *, columns: bool = False, damaged: bool = False) -> "Map":
        """The map of an image, in memory. An image that is cut short is refused without `damaged`."""
        err = _Error()
        flags = (1 if columns else 0) | (4 if damaged else 0)
        handle = _lib.flat_map_build(image._open(), int(lines), flags, ctypes.byref(err))
        if not handle:
            _raise(err)
        made = cls.__new__(cls)
        made._take(handle, None)
        return made

    def save(self, path: AnyPath) -> None:
        """Writes the map: whole, or not at all."""
        err = _Error()
        if not _lib.flat_map_save(self._open(), _c_path(path), ctypes.byref(err)):
            _raise(err)

    def __bytes__(self) -> bytes:
        length = ctypes.c_size_t()
        return ctypes.string_at(_lib.flat_map_bytes(self._open(), ctypes.byref(length)), length.value)


def open(path: AnyPath, *, arch: Optional[str] = None, uuid: Optional[AnyUuid] = None, entry: Optional[str] = None,
         pair: Optional[AnyPath] = None, oso_prefixes: Sequence[Tuple[str, str]] = (), oso_dirs: Sequence[AnyPath] = (),
         copy: bool = False) -> Image:
    """Opens a file: a .symmap as a Map, anything else as an Image, whose arguments these are."""
    image = Image(path, arch=arch, uuid=uuid, entry=entry, pair=pair, oso_prefixes=oso_prefixes, oso_dirs=oso_dirs,
                  copy=copy)
    if image.info.is_map:
        image.__class__ = Map
    return image
