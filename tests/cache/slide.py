"""Pointers of a data mapping as the five versions of dyld's slide info store them.

Each function takes the mapping's bytes (changed in place), its address, the base address of the cache and
{offset in the mapping: (target, top byte, authenticated)}, and returns the slide info.
"""
import struct

PAGE = 0x1000


def pages(data, pointers):
    """[[offset in its page, ...] of each page], sorted."""
    out = [[] for _ in range((len(data) + PAGE - 1) // PAGE)]
    for off in sorted(pointers):
        out[off // PAGE].append(off % PAGE)
    return out


def version1(data, address, base, pointers):
    """A bitmap of 4-byte slots for each page; equal bitmaps are there once. Pointers are stored as they are."""
    form = "<Q" if any(top or target >> 32 for target, top, _ in pointers.values()) else "<I"
    for off, (target, top, _) in pointers.items():
        struct.pack_into(form, data, off, target | top << 56)
    toc, entries = [], []
    for page in pages(data, pointers):
        bits = bytearray(PAGE // 32)
        for off in page:
            bits[off // 32] |= 1 << off // 4 % 8
        if bytes(bits) not in entries:
            entries.append(bytes(bits))
        toc.append(entries.index(bytes(bits)))
    first = 24 + (2 * len(toc) + 7) // 8 * 8
    head = struct.pack("<6I", 1, 24, len(toc), first, len(entries), PAGE // 32)
    return (head + struct.pack("<%dH" % len(toc), *toc)).ljust(first, b"\0") + b"".join(entries)


def chain_page(data, start, links, longest, shift, form, bridge):
    """Links the slots of a page; returns the offsets at which chains begin. A step is at most `longest` bytes:
    a slot between that holds no pointer can carry a link too, when bridge(its value) says how it is then stored."""
    heads, previous = [], None
    size = struct.calcsize(form)
    for off in links:
        while previous is not None and off - previous > longest:
            for between in range(previous + longest, previous, -4):
                stored = bridge(struct.unpack_from(form, data, start + between)[0]) if bridge else None
                if stored is not None and between + size <= off:
                    step(data, start + previous, between - previous, shift, form)
                    struct.pack_into(form, data, start + between, stored)
                    previous = between
                    break
            else:
                previous = None
        if previous is None:
            heads.append(off)
        else:
            step(data, start + previous, off - previous, shift, form)
        previous = off
    return heads


def step(data, at, distance, shift, form):
    raw = struct.unpack_from(form, data, at)[0]
    struct.pack_into(form, data, at, raw | distance // 4 << shift)


def starts_and_extras(data, pointers, longest, shift, form, bridge, none):
    starts, extras = [], []
    for i, page in enumerate(pages(data, pointers)):
        heads = chain_page(data, i * PAGE, page, longest, shift, form, bridge)
        if not heads:
            starts.append(none)
        elif len(heads) == 1:
            starts.append(heads[0] // 4)
        else:
            starts.append(0x8000 | len(extras))
            extras += [h // 4 for h in heads]
            extras[-1] |= 0x8000
    return starts, extras


def version2or4(version, mask, value_add, none, starts, extras):
    head = struct.pack("<6IQQ", version, PAGE, 40, len(starts), 40 + 2 * len(starts), len(extras), mask, value_add)
    return head + struct.pack("<%dH" % (len(starts) + len(extras)), *starts, *extras)


def version2(data, address, base, pointers):
    """64-bit: 16 bits of delta. 32-bit: three bits, a zero between two pointers can carry the chain on."""
    wide = base >> 32 != 0
    form, mask, shift = ("<Q", 0x00FFFF0000000000, 40) if wide else ("<I", 0xE0000000, 29)
    for off, (target, top, _) in pointers.items():
        struct.pack_into(form, data, off, target - base | top << 56)
    longest = (mask >> shift) * 4
    bridge = None if wide else lambda v: 0 if v == 0 else None
    starts, extras = starts_and_extras(data, pointers, longest, shift, form, bridge, 0x4000)
    return version2or4(2, mask, base, 0x4000, starts, extras)


def version4(data, address, base, pointers):
    """32-bit: two bits of delta; any small number between two pointers can carry the chain on."""
    for off, (target, _, _) in pointers.items():
        value = target - base
        assert value >= 0x8000 and value & 0x3FFF8000 != 0x3FFF8000
        struct.pack_into("<I", data, off, value)

    def bridge(v):
        return v & 0x3FFFFFFF if v < 0x8000 or v >= 0xFFFF8000 else None

    starts, extras = starts_and_extras(data, pointers, 12, 30, "<I", bridge, 0xFFFF)
    return version2or4(4, 0xC0000000, base, 0xFFFF, starts, extras)


def version3or5(version, data, base, pointers, raw):
    starts = []
    for i, page in enumerate(pages(data, pointers)):
        for off, following in zip(page, page[1:] + page[-1:]):
            value = raw(*pointers[i * PAGE + off]) | (following - off) // 8 << (51 if version == 3 else 52)
            struct.pack_into("<Q", data, i * PAGE + off, value)
        starts.append(page[0] if page else 0xFFFF)
    return struct.pack("<4IQ", version, PAGE, len(starts), 0, base) + struct.pack("<%dH" % len(starts), *starts)


def version3(data, address, base, pointers):
    def raw(target, top, signed):
        if signed: # any diversity: it is no part of the address
            return target - base | 0xBEEF << 32 | 1 << 63
        return target & 0x7FFFFFFFFFF | top << 43

    return version3or5(3, data, base, pointers, raw)


def version5(data, address, base, pointers):
    def raw(target, top, signed):
        if signed:
            return target - base | 0xC0DE << 34 | 1 << 50 | 1 << 63
        return target - base | top << 34

    return version3or5(5, data, base, pointers, raw)


VERSIONS = {1: version1, 2: version2, 3: version3, 4: version4, 5: version5}
