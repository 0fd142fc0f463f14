"""Writes Mach-O images with an __eh_frame or a __debug_frame of random CFA programs, which have every instruction and every
operation of expressions. Usage: programs.py FOLDER FUNCTIONS SEED. The last line counts."""
import random
import struct
import sys

from expressions import CODES, OPERANDS, operand, sleb, uleb

BASE, CODE, FRAMES = 0x100000, 0x1000, 0x40000
ARCHES = [("x86_64", 0x1000007, 8, 17, 16), ("i386", 7, 4, 9, 8), ("arm64", 0x100000c, 8, 32, 30),
          ("arm64_32", 0x200000c, 4, 32, 30)]


class Program:
    """The programs of the functions of one CIE. They are valid, so that llvm-dwarfdump has rows of all."""

    def __init__(self, pick, word, registers, aligned, is_debug, lo=0, size=0):
        self.pick, self.word, self.registers, self.aligned = pick, word, registers, aligned
        self.is_debug, self.pc, self.end, self.code_align = is_debug, lo, lo + size, 1
        self.kept, self.is_register = [], True
        self.out = b""

    def register(self):
        return self.pick(self.registers)

    def expression(self):
        out = b""
        for _ in range(1 + self.pick(6)):
            kind = self.pick(6)
            if kind == 0:
                out += bytes([0x30 + self.pick(32)])
            elif kind == 1:
                out += bytes([0x70 + self.pick(min(32, self.registers))]) + sleb(self.pick(500) - 250)
            elif kind == 2:
                out += b"\x92" + uleb(self.register()) + sleb(self.pick(500) - 250)
            elif kind == 3:
                out += b"\x03" + operand(self.word, self.pick(1 << 30))
            elif kind == 4:
                out += bytes([sorted(CODES.values())[self.pick(len(CODES))]])
            else:
                code, form = sorted(OPERANDS.values(), key=lambda item: item[0])[self.pick(len(OPERANDS))]
                out += bytes([code]) + operand(form, self.pick(100) if form in (1, "u") else self.pick(200) - 100)
        return uleb(len(out)) + out

    def advance(self):
        """One of those that fit before the end of the function."""
        left = (self.end - 1 - self.pc) // self.code_align
        kinds = [(0x40, 0, 63), (2, 1, 255), (3, 2, 65535), (4, 4, 1 << 32)]
        code, size, most = kinds[self.pick(4)]
        by = self.pick(min(left, most, 40) + 1)
        if self.is_debug and by and self.pick(8) == 0:
            self.out += b"\x01" + operand(self.word, self.pc + by * self.code_align)
        elif size == 0:
            self.out += bytes([code + by])
        else:
            self.out += bytes([code]) + operand(size, by)
        self.pc += by * self.code_align

    def cfa(self):
        kind = self.pick(6)
        if kind < 2:
            self.out += (b"\x0c" + uleb(self.register()) + uleb(self.pick(300)) if kind else
                         b"\x12" + uleb(self.register()) + sleb(self.pick(100) - 50))
        elif kind == 2:
            self.out += b"\x0d" + uleb(self.register())
        elif kind == 3:
            self.out += b"\x0f" + self.expression()
        elif self.is_register:
            self.out += b"\x0e" + uleb(self.pick(300)) if kind == 4 else b"\x13" + sleb(self.pick(100) - 50)
        if kind < 4:
            self.is_register = kind != 3

    def rule(self):
        r, kind = self.register(), self.pick(11)
        own = uleb(r)
        choices = [bytes([0x80 + r]) + uleb(self.pick(40)), b"\x05" + own + uleb(self.pick(400)), b"\x07" + own, b"\x08" + own,
                   b"\x09" + own + uleb(self.register()), b"\x10" + own + self.expression(), b"\x11" + own + sleb(self.pick(80) - 40),
                   b"\x14" + own + uleb(self.pick(40)), b"\x15" + own + sleb(self.pick(80) - 40),
                   b"\x16" + own + self.expression(), b"\x2e" + uleb(self.pick(40))]
        self.out += choices[kind]

    def back(self):
        """To the CIE's rules, or those that were remembered."""
        kind = self.pick(4)
        if kind == 0 and self.aligned:
            self.out += bytes([0xc0 + self.aligned[self.pick(len(self.aligned))]])
        elif kind == 1 and self.aligned:
            self.out += b"\x06" + uleb(self.aligned[self.pick(len(self.aligned))])
        elif kind == 2 and len(self.kept) < 4:
            self.out += b"\x0a"
            self.kept.append(self.is_register)
        elif kind == 3 and self.kept:
            self.out += b"\x0b"
            self.is_register = self.kept.pop()

    def run(self, steps):
        for _ in range(steps):
            [self.advance, self.cfa, self.rule, self.rule, self.back][self.pick(5)]()
        return self.out


def entry(link, body, is_long, is_debug):
    """link: of a CIE None, else what leads to it."""
    link = (0xffffffffffffffff if is_long else 0xffffffff) if link is None and is_debug else link or 0
    size = 8 if is_long and is_debug else 4
    body = struct.pack("<Q" if size == 8 else "<I", link) + body
    body += b"\0" * (-len(body) % 8)
    return (struct.pack("<IQ", 0xffffffff, len(body)) if is_long else struct.pack("<I", len(body))) + body


def frames(pick, arch, count, is_debug):
    _, _, word, registers, ra = arch
    out, pc = b"", BASE + CODE
    for _ in range(count):
        if not out or pick(20) == 0:
            is_long, version = pick(5) == 0, pick(4) + 1 if is_debug else pick(2) * 2 + 1
            version = 3 if version == 2 else version
            code_align, data_align = [1, 4][pick(2)], [-8, -4, 8, 16][pick(4)]
            encoding = [0x1b, 0x10, 0x00, 0x03, 0x0b][pick(5)]
            with_data = not is_debug and pick(5) != 0
            first = Program(pick, word, registers, [], is_debug)
            first.out = bytes([0x0c, ra % registers, 8, 0x80 | ra, 1])
            saved = [ra]
            for _ in range(pick(4)):
                saved.append(pick(registers))
                first.out += bytes([0x80 | saved[-1]]) + uleb(pick(20))
            body = bytes([version]) + (b"zR\0" if with_data else b"\0") + (bytes([word, 0]) if version == 4 else b"")
            body += uleb(code_align) + sleb(data_align) + (bytes([ra]) if version == 1 else uleb(ra))
            body += (b"\x01" + bytes([encoding]) if with_data else b"") + first.out
            cie, encoding = len(out), encoding if with_data else 0
            out += entry(None, body, is_long, is_debug)
        size = 1 + pick(300)
        program = Program(pick, word, registers, saved, is_debug, pc, size)
        program.code_align = code_align
        field = len(out) + (12 if is_long else 4)  # of the link
        place = field + (8 if is_long and is_debug else 4)
        wide = 4 if encoding & 15 in (3, 11) else word
        at = pc - (BASE + FRAMES + place) if encoding & 0x70 else pc
        body = operand(wide, at) + operand(wide, size) + (b"\0" if with_data else b"") + program.run(pick(24))
        out += entry(cie if is_debug else field - cie, body, is_long, is_debug)
        pc += size + pick(40)
    return out


def image(arch, name, content):
    """A dSYM with one section; of it llvm-dwarfdump reads both kinds."""
    is_64 = arch[1] >> 24 == 1
    command = struct.pack("<II16s4Q4I" if is_64 else "<II16s8I", 0x19 if is_64 else 1, (72 + 80) if is_64 else (56 + 68), b"__DWARF", BASE,
                          0x100000, 0, 0x1000 + len(content), 7, 7, 1, 0)
    command += struct.pack("<16s16sQQ8I" if is_64 else "<16s16s9I", name, b"__DWARF", BASE + FRAMES, len(content),
                           0x1000, *[0] * (7 if is_64 else 6))
    head = struct.pack("<7I", 0xfeedfacf if is_64 else 0xfeedface, arch[1], 3 if arch[0].endswith("86_64") or arch[0] == "i386" else 0,
                       10, 1, len(command), 0) + (b"\0" * 4 if is_64 else b"")
    return (head + command).ljust(0x1000, b"\0") + content


def main():
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for arch in ARCHES:
        for name in (b"__eh_frame", b"__debug_frame"):
            pick = random.Random("%d %s %s" % (seed, arch[0], name)).randrange
            with open("%s/%s%s" % (folder, arch[0], name.decode()), "wb") as file:
                file.write(image(arch, name, frames(pick, arch, count, name != b"__eh_frame")))
    print("%d programs of each kind" % count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
