#!/usr/bin/env python3
"""machsym from Python: function, file, line and inline chain for addresses of iPhone and Mac programs.

    import machsym
    with machsym.open("App.app.dSYM") as app:
        for frames in app.lookup([0x102a309b6, 0x102a30aef], load=0x102a30000):
            for f in frames:
                print(f.name, f.file, f.line)

It loads libmachsym.so (`make lib`): the one that MACHSYM_LIBRARY names, else the one in build/, else the system's.
A .symmap is opened in the same way as a dSYM or a binary. An image belongs to one thread at a time.
As a program: machsym.py FILE LOAD_ADDRESS ADDRESS... prints what is at the addresses.
"""
import builtins
import ctypes
import enum
import os
import sys
import uuid as _uuid
from typing import NamedTuple


# ---- What machsym.h declares. Names and order are the header's; tests/python.sh compares sizes and offsets. ----

class Str(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]

    def text(self):
        if not self.len:
            return ""
        return ctypes.string_at(self.ptr, self.len).decode("utf-8", "surrogateescape")


class Bytes(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Path(ctypes.Structure):
    _fields_ = [("comp_dir", Str), ("dir", Str), ("name", Str)]


class Uuid(ctypes.Structure):
    _fields_ = [("v", ctypes.c_uint8 * 16)]


class Allocator(ctypes.Structure):
    _fields_ = [("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os_errno", ctypes.c_int), ("what", ctypes.c_char_p),
                ("where", ctypes.c_char_p), ("offset", ctypes.c_uint64)]


class OpenDesc(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("bytes", Bytes), ("pair_path", ctypes.c_char_p), ("pair_bytes", Bytes),
                ("arch", ctypes.c_char_p), ("uuid", ctypes.POINTER(Uuid)), ("entry", ctypes.c_char_p),
                ("flags", ctypes.c_uint32),
                ("load_addr", ctypes.c_uint64), ("oso_prefixes", ctypes.c_void_p),
                ("oso_prefix_count", ctypes.c_size_t), ("oso_dirs", ctypes.POINTER(ctypes.c_char_p)),
                ("oso_dir_count", ctypes.c_size_t), ("allocator", Allocator)]


class SessionDesc(ctypes.Structure):
    _fields_ = [("image", ctypes.c_void_p), ("lines", ctypes.c_int), ("flags", ctypes.c_uint32),
                ("cache_limit", ctypes.c_size_t), ("allocator", Allocator)]


class Slice(ctypes.Structure):
    _fields_ = [("cputype", ctypes.c_uint32), ("cpusubtype", ctypes.c_uint32), ("arch", ctypes.c_char_p),
                ("uuid", Uuid), ("has_uuid", ctypes.c_bool), ("filetype", ctypes.c_uint32),
                ("offset", ctypes.c_uint64), ("size", ctypes.c_uint64)]


class CFrame(ctypes.Structure):
    _fields_ = [("linkage_name", Str), ("name", Str), ("file", Path), ("line", ctypes.c_uint32),
                ("column", ctypes.c_uint32), ("function_start", ctypes.c_uint64), ("function_size", ctypes.c_uint64),
                ("die_offset", ctypes.c_uint64), ("name_source", ctypes.c_int), ("line_source", ctypes.c_int),
                ("is_inline", ctypes.c_bool), ("lacks_memory", ctypes.c_bool)]


class MapDesc(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("bytes", Bytes), ("flags", ctypes.c_uint32), ("allocator", Allocator)]


class MapFrame(ctypes.Structure):
    _fields_ = [("name_ref", ctypes.c_uint32), ("file_ref", ctypes.c_uint32), ("line", ctypes.c_uint32),
                ("column", ctypes.c_uint32), ("function_start", ctypes.c_uint64), ("function_size", ctypes.c_uint64),
                ("name_source", ctypes.c_int), ("line_source", ctypes.c_int), ("is_inline", ctypes.c_bool)]


class Answer(ctypes.Structure):
    _fields_ = [("first", ctypes.c_size_t), ("count", ctypes.c_size_t)]


LAYOUT = {"str": Str, "bytes": Bytes, "path": Path, "uuid": Uuid, "allocator": Allocator, "error": Error,
          "open_desc": OpenDesc, "session_desc": SessionDesc, "slice": Slice, "frame": CFrame, "answer": Answer,
          "map_desc": MapDesc, "map_frame": MapFrame}


class Lines(enum.IntEnum):
    """Which row of the line table answers."""
    ATOS = 0
    DWARF = 1
    STMT = 2


OPEN_COPY = 1
DEMANGLE_FULL = 0
DEMANGLE_SIMPLIFIED = 1


def _load():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "libmachsym.so")
    path = os.environ.get("MACHSYM_LIBRARY") or (here if os.path.exists(here) else "libmachsym.so.0")
    lib = ctypes.CDLL(path)
    pointer, size, u64, u32 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint32
    ref = ctypes.POINTER
    declare = {
        "version": (ctypes.c_char_p, []),
        "result_name": (ctypes.c_char_p, [ctypes.c_int]),
        "source_name": (ctypes.c_char_p, [ctypes.c_int]),
        "path_join": (size, [ref(Path), ctypes.c_char_p, size]),
        "list_slices": (size, [ref(OpenDesc), ref(Slice), size, ref(Error)]),
        "image_open": (ctypes.c_int, [ref(OpenDesc), ref(pointer), ref(Error)]),
        "image_close": (None, [pointer]),
        "image_addr": (u64, [pointer, u64, u64]),
        "session_open": (ctypes.c_int, [ref(SessionDesc), ref(pointer), ref(Error)]),
        "session_close": (None, [pointer]),
        "session_lookup": (size, [pointer, ref(u64), size, ref(Answer), ref(CFrame), size]),
        "map_open": (ctypes.c_int, [ref(MapDesc), ref(pointer), ref(Error)]),
        "map_close": (None, [pointer]),
        "map_addr": (u64, [pointer, u64, u64]),
        "map_frames": (size, [pointer, u64, ref(MapFrame), size]),
        "map_names": (size, [pointer, ref(MapFrame), size, ref(CFrame), ctypes.c_char_p, size]),
        "demangle": (size, [Str, u32, ctypes.c_char_p, size]),
    }
    for name, (result, arguments) in declare.items():
        function = getattr(lib, "machsym_" + name)
        function.restype = result
        function.argtypes = arguments
    return lib


_lib = _load()
_sources = [_lib.machsym_source_name(i).decode() for i in range(9)]


class MachsymError(Exception):
    """What cannot be opened. code is the name of the machsym_result, as ERR_ARCH."""

    def __init__(self, path, err):
        self.code = _lib.machsym_result_name(err.code).decode()
        self.offset = err.offset
        where = err.where.decode() if err.where else ""
        what = err.what.decode() if err.what else self.code
        os_text = ": " + os.strerror(err.os_errno) if err.os_errno else ""
        super().__init__("%s: %s%s%s" % (path, what, " (%s)" % where if where else "", os_text))


class Frame(NamedTuple):
    """One function at an address, concrete or inlined. name is demangled."""
    name: str
    linkage_name: str
    file: str
    line: int
    column: int
    inline: bool
    function_start: int
    function_size: int
    name_source: str
    line_source: str


def version():
    return _lib.machsym_version().decode()


def demangle(name, flags=DEMANGLE_SIMPLIFIED):
    """The source form of a mangled C++, Swift, Rust or D name; any other name as it is."""
    raw = name.encode("utf-8", "surrogateescape")
    keep = ctypes.create_string_buffer(raw, len(raw) + 1)
    mangled = Str(ctypes.addressof(keep), len(raw))
    room = 1024
    while True:
        out = ctypes.create_string_buffer(room)
        need = _lib.machsym_demangle(mangled, flags, out, room)
        if need < room:
            return out.raw[:need].decode("utf-8", "surrogateescape")
        room = need + 1


def _join(path):
    room = 512
    while True:
        out = ctypes.create_string_buffer(room)
        need = _lib.machsym_path_join(ctypes.byref(path), out, room)
        if need < room:
            return out.raw[:need].decode("utf-8", "surrogateescape")
        room = need + 1


def _uuid_desc(uuid):
    return ctypes.pointer(Uuid.from_buffer_copy(_uuid.UUID(str(uuid)).bytes)) if uuid else None


def slices(path):
    """The architectures of a file: (arch, uuid) each; uuid is a uuid.UUID or None."""
    desc = OpenDesc(path=os.fsencode(path))
    err = Error()
    found = (Slice * 64)()
    count = _lib.machsym_list_slices(ctypes.byref(desc), found, len(found), ctypes.byref(err))
    if count == 0:
        raise MachsymError(path, err)
    return [(s.arch.decode(), _uuid.UUID(bytes=bytes(s.uuid.v)) if s.has_uuid else None)
            for s in found[:min(count, len(found))]]


class _Names:
    """Texts of one batch: each distinct view is made a Python string once."""

    def __init__(self, flags):
        self.flags = flags
        self.known = {}

    def _once(self, kind, key, make):
        key = (kind,) + key
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def text(self, s):
        return self._once("text", (s.ptr, s.len), s.text)

    def source_form(self, name):
        return self._once("name", (name,), lambda: demangle(name, self.flags))

    def path(self, p):
        key = (p.comp_dir.ptr, p.comp_dir.len, p.dir.ptr, p.dir.len, p.name.ptr, p.name.len)
        return self._once("path", key, lambda: _join(p))

    def frame(self, f):
        linkage_name = self.text(f.linkage_name)
        name = self.source_form(linkage_name or self.text(f.name))
        return Frame(name, linkage_name, self.path(f.file), f.line, f.column, f.is_inline, f.function_start,
                     f.function_size, _sources[f.name_source], _sources[f.line_source])


class _Source:
    """What images and maps have in common."""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        self.close()

    def lookup(self, addresses, load=None, flags=DEMANGLE_SIMPLIFIED):
        """The frames at each address, innermost inlined call first. With load, the addresses are runtime ones of an
        image loaded there; else they are the file's. Subtract 1 from return addresses before."""
        addresses = list(addresses)
        if load is not None:
            addresses = [self.addr(load, address) for address in addresses]
        return self._lookup((ctypes.c_uint64 * len(addresses))(*addresses), _Names(flags))


class Image(_Source):
    """A Mach-O file or a .dSYM bundle, and a session on it."""

    def __init__(self, path, arch=None, uuid=None, pair=None, lines=Lines.ATOS, flags=0, oso_dirs=()):
        self._image = ctypes.c_void_p()
        self._session = ctypes.c_void_p()
        self._cap = 64
        dirs = (ctypes.c_char_p * len(oso_dirs))(*[os.fsencode(d) for d in oso_dirs])
        desc = OpenDesc(path=os.fsencode(path), arch=arch.encode() if arch else None, uuid=_uuid_desc(uuid),
                        pair_path=os.fsencode(pair) if pair else None, flags=flags, oso_dirs=dirs,
                        oso_dir_count=len(oso_dirs))
        err = Error()
        if _lib.machsym_image_open(ctypes.byref(desc), ctypes.byref(self._image), ctypes.byref(err)) != 0:
            raise MachsymError(path, err)
        how = SessionDesc(image=self._image, lines=lines)
        if _lib.machsym_session_open(ctypes.byref(how), ctypes.byref(self._session), ctypes.byref(err)) != 0:
            raise MachsymError(path, err)

    def close(self):
        if self._session:
            _lib.machsym_session_close(self._session)
            self._session = ctypes.c_void_p()
        if self._image:
            _lib.machsym_image_close(self._image)
            self._image = ctypes.c_void_p()

    def addr(self, load, pc):
        """The file's address that a runtime address stands for."""
        if not self._image:
            raise ValueError("the image is closed")
        return _lib.machsym_image_addr(self._image, load, pc)

    def _lookup(self, addresses, names):
        if not self._session:
            raise ValueError("the image is closed")
        count = len(addresses)
        answers = (Answer * count)()
        while True:
            frames = (CFrame * self._cap)()
            need = _lib.machsym_session_lookup(self._session, addresses, count, answers, frames, self._cap)
            if need <= self._cap:
                break
            self._cap = need
        return [[names.frame(frames[i]) for i in range(a.first, a.first + a.count)] for a in answers]


class Map(_Source):
    """A .symmap."""

    def __init__(self, path):
        self._map = ctypes.c_void_p()
        self._cap = 64
        self._room = 4096
        err = Error()
        desc = MapDesc(path=os.fsencode(path))
        if _lib.machsym_map_open(ctypes.byref(desc), ctypes.byref(self._map), ctypes.byref(err)) != 0:
            raise MachsymError(path, err)

    def close(self):
        if self._map:
            _lib.machsym_map_close(self._map)
            self._map = ctypes.c_void_p()

    def addr(self, load, pc):
        """The file's address that a runtime address stands for."""
        if not self._map:
            raise ValueError("the map is closed")
        return _lib.machsym_map_addr(self._map, load, pc)

    def _frames_at(self, address, flags):
        while True:
            found = (MapFrame * self._cap)()
            count = _lib.machsym_map_frames(self._map, address, found, self._cap)
            if count <= self._cap:
                break
            self._cap = count
        frames = (CFrame * count)()
        while True:
            text = ctypes.create_string_buffer(self._room)
            need = _lib.machsym_map_names(self._map, found, count, frames, text, self._room)
            if need <= self._room:
                break
            self._room = need
        names = _Names(flags)  # names are unpacked anew each time: views do not last
        return [names.frame(f) for f in frames]

    def _lookup(self, addresses, names):
        if not self._map:
            raise ValueError("the map is closed")
        return [self._frames_at(address, names.flags) for address in addresses]


def open(path, **how):
    """Opens a .symmap, or anything else as an Image; its arguments are those of Image."""
    if not os.path.isdir(path):
        with builtins.open(path, "rb") as file:
            if file.read(8) == b"MACHSYM\n":
                return Map(path)
    return Image(path, **how)


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: machsym.py FILE LOAD_ADDRESS ADDRESS...")
    addresses = [int(a, 16) for a in sys.argv[3:]]
    with open(sys.argv[1]) as source:
        for address, frames in zip(addresses, source.lookup(addresses, load=int(sys.argv[2], 16))):
            for f in frames:
                print("0x%x %s (%s:%d)" % (address, f.name, f.file, f.line))
            if not frames:
                print("0x%x" % address)


if __name__ == "__main__":
    main()
