"""Finds sections of thin Mach-O files; folders are searched for those."""
import os
import struct


def section(path, name):
    """Offset, size and address of a section, and how long addresses are; None: not there, or an object file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] not in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe") or struct.unpack_from("<I", data, 12)[0] == 1:
        return None
    is_64 = data[:1] == b"\xcf"
    at = 32 if is_64 else 28
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == (0x19 if is_64 else 1):
            begin, step = at + (72 if is_64 else 56), 80 if is_64 else 68
            for i in range(struct.unpack_from("<I", data, at + (64 if is_64 else 48))[0]):
                here = begin + i * step
                if data[here:here + 16].rstrip(b"\0") == name:
                    addr, length, offset = struct.unpack_from("<QQI" if is_64 else "<III", data, here + 32)
                    return (offset, length, addr, 8 if is_64 else 4) if offset else None
        at += size
    return None


def images(names, wanted):
    """Each file with such a section, and where it is."""
    for name in names:
        inside = [name]
        if os.path.isdir(name):
            inside = sorted(os.path.join(folder, f) for folder, _, files in os.walk(name) for f in files)
        for path in inside:
            try:
                place = section(path, wanted)
            except (OSError, struct.error):
                continue
            if place is not None:
                yield path, place
