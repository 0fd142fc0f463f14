"""DWARF expressions: the bytes of what llvm-dwarfdump-22 prints."""

PLAIN = """06 deref 12 dup 13 drop 14 over 16 swap 17 rot 19 abs 1a and 1b div 1c minus 1d mod 1e mul 1f neg 20 not 21 or
22 plus 24 shl 25 shr 26 shra 27 xor 29 eq 2a ge 2b gt 2c le 2d lt 2e ne 96 nop""".split()
CODES = dict(zip(PLAIN[1::2], (int(code, 16) for code in PLAIN[::2])))
# how the operand is written: bytes of its size; u and s: LEB128
OPERANDS = {"const1u": (0x08, 1), "const1s": (0x09, 1), "const2u": (0x0a, 2), "const2s": (0x0b, 2), "const4u": (0x0c, 4),
            "const4s": (0x0d, 4), "const8u": (0x0e, 8), "const8s": (0x0f, 8), "constu": (0x10, "u"), "consts": (0x11, "s"),
            "pick": (0x15, 1), "plus_uconst": (0x23, "u"), "bra": (0x28, 2), "skip": (0x2f, 2), "deref_size": (0x94, 1)}


def uleb(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def sleb(value):
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value & 127]))


def operand(kind, value):
    if kind in ("u", "s"):
        return uleb(value) if kind == "u" else sleb(value)
    return (value & (1 << 8 * kind) - 1).to_bytes(kind, "little")


def packed(text, word, number):
    """The bytes of "DW_OP_breg7 RSP+8, DW_OP_deref". number: of a register by its name; word: bytes of an address."""
    out = b""
    for part in text.split(", "):
        name, _, rest = part.replace("DW_OP_", "").partition(" ")
        if name in CODES:
            out += bytes([CODES[name]])
        elif name.startswith("lit"):
            out += bytes([0x30 + int(name[3:])])
        elif name.startswith("breg"):
            at = max(rest.rfind("+"), rest.rfind("-"))
            own = uleb(number(rest[:at])) if name == "bregx" else b""
            out += bytes([0x92 if own else 0x70 + int(name[4:])]) + own + sleb(int(rest[at:]))
        elif name == "addr":
            out += b"\x03" + operand(word, int(rest, 16))
        else:
            code, kind = OPERANDS[name]
            out += bytes([code]) + operand(kind, int(rest, 0))
    return out
