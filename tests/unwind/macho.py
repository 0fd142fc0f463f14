"""Finds sections of Mach-O files, fat ones too; folders are searched for those."""
import os
import struct

FAT = {b"\xca\xfe\xba\xbe": (">5I", 20), b"\xca\xfe\xba\xbf": (">2I3Q", 32)}


def section(data, name):
    """Offset, size and address of a section of a thin file, and how long addresses are; None: not there, or an object file."""
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


def slices(data):
    """The thin files of a file."""
    if data[:4] not in FAT:
        return [data]
    form, size = FAT[data[:4]]
    count = struct.unpack_from(">I", data, 4)[0]
    places = [struct.unpack_from(form, data, 8 + size * i)[2:4] for i in range(count if count < 32 else 0)]
    return [data[at:at + length] for at, length in places]


def images(names, wanted, folder):
    """Each image with such a section: its name, a thin file of it, and where the section is. Slices of fat files are written
    to folder."""
    for name in names:
        inside = [name]
        if os.path.isdir(name):
            inside = sorted(os.path.join(top, f) for top, _, files in os.walk(name) for f in files)
        for path in inside:
            try:
                with open(path, "rb") as file:
                    thin = slices(file.read())
                places = [section(data, wanted) for data in thin]
            except (OSError, struct.error):
                continue
            for number, place in enumerate(places):
                if place is None:
                    continue
                if len(places) == 1:
                    yield path, path, place
                    continue
                own = os.path.join(folder, "slice")
                with open(own, "wb") as file:
                    file.write(thin[number])
                yield "%s, slice %d" % (path, number), own, place
