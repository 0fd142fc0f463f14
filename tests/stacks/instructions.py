"""Writes instructions.tsv: what calls and jumps, as llvm-mc-22 disassembles it. Usage: instructions.py > instructions.tsv

Columns: processor, bytes, what it calls ("*": what a register or memory says; a number: from the instruction on; "-": nothing),
where it jumps (the same), whether the next instruction may follow, the text."""
import random
import re
import subprocess

ARM64 = ["-triple=arm64-apple-macos", "-mcpu=apple-m4"]
X86_64 = ["-triple=x86_64-apple-macos"]
# One of each kind, and of what lies near by: each is tried with every bit flipped.
WORDS = [0x94000010, 0xd63f0200, 0xd73f0a11, 0xd63f0a1f, 0xd73f0e11, 0xd63f0e1f, 0x14000010, 0x54000080, 0x34000085, 0x35000085,
         0xb4000085, 0xb5000085, 0x36080085, 0xb7080085, 0xd61f0200, 0xd71f0a11, 0xd61f0a1f, 0xd71f0e11, 0xd61f0e1f, 0xd65f03c0,
         0xd65f0bff, 0xd65f0fff, 0xd4200020, 0x00000001, 0xd503201f, 0xd4000001]
# The far ends of each kind's offset.
EDGES = [0x95ffffff, 0x96000000, 0x97ffffff, 0x15ffffff, 0x16000000, 0x17ffffff, 0x547fffe0, 0x54800000, 0x54ffffe0, 0x347fffe0,
         0x34800000, 0xb5ffffe0, 0x3603ffe0, 0x36040000, 0xb707ffe0]
# Programs have no far calls and jumps, and return from exceptions only in the kernel.
NOT_ASKED = ("eret", "drps", "lcall", "ljmp")


def disassembled(arguments, codes):
    """The text of each code that is one instruction, and None for others."""
    said = subprocess.run(["llvm-mc-22", "--disassemble"] + arguments, input="\n".join(" ".join("0x%02x" % b for b in code) for code in codes),
                          capture_output=True, text=True)
    bad = {int(n) - 1 for n in re.findall(r"^<stdin>:(\d+):\d+: warning", said.stderr, re.M)}
    texts = iter([line.strip() for line in said.stdout.splitlines() if line.startswith("\t") and not line.startswith("\t.")])
    return [None if i in bad else next(texts) for i in range(len(codes))], list(texts)


def number(text):
    """The offset at the end of a text; LLVM writes hexadecimal or decimal."""
    return int(re.split(r"[\s,#]+", text)[-1], 0)


def of_arm64(text):
    word = text.split()[0]
    if word == "bl":
        return number(text), "-", 1
    if word.startswith("blr"):
        return "*", "-", 1
    if word == "b":
        return "-", number(text), 0
    if word.startswith("b.") or word in ("cbz", "cbnz", "tbz", "tbnz"):
        return "-", number(text), 1
    if word.startswith("br") and word != "brk":
        return "-", "*", 0
    return "-", "-", 0 if word in ("ret", "retaa", "retab", "brk", "udf") else 1


def of_x86_64(text, size):
    word = text.split()[0]
    if word.startswith("call"):
        return ("*", "-", 1) if "*" in text else (number(text) + size, "-", 1)
    if word.startswith("jmp"):
        return ("-", "*", 0) if "*" in text else ("-", number(text) + size, 0)
    if word.startswith("j"):
        return "-", number(text) + size, 1
    return "-", "-", 0 if word.startswith(("ret", "ud2", "int3")) else 1


def forms(rng, prefix):
    """Each form of ModRM for each of its eight codes: the bytes after it begin no call and no jump."""
    for code in range(8):
        for mod in range(4):
            for rm in range(8):
                modrm = mod << 6 | code << 3 | rm
                sibs = [0x24, 0x25, 0x4b, 0xe5] if mod != 3 and rm == 4 else [None]
                for sib in sibs:
                    size = {0: 0, 1: 1, 2: 4, 3: 0}[mod]
                    if mod == 0 and (rm == 5 or (sib is not None and sib & 7 == 5)):
                        size = 4
                    yield bytes(prefix + [modrm] + ([] if sib is None else [sib]) + [rng.randrange(0x41, 0x60) for _ in range(size)])


def main():
    rng = random.Random(33)
    words = sorted({word ^ 1 << bit for word in WORDS for bit in range(32)} | set(WORDS) | set(EDGES))
    words += [rng.getrandbits(26) | 5 << 26 | rng.getrandbits(3) << 29 for _ in range(200)]
    codes = [word.to_bytes(4, "little") for word in words]
    texts, left = disassembled(ARM64, codes)
    assert not left
    print("# processor, bytes, calls, jumps to, goes on, text: by instructions.py and llvm-mc 22")
    for code, text in zip(codes, texts):
        if text is not None and not text.startswith(NOT_ASKED):
            print("arm64", code.hex(), *of_arm64(text), text.replace("\t", " "), sep="\t")
    codes = list(forms(rng, [0xff]))
    codes += [bytes([op, rel]) for op in list(range(0x70, 0x80)) + [0xeb] for rel in (0x10, 0x7e, 0x80, 0xf0)]
    codes += [bytes(op) + rel.to_bytes(4, "little", signed=True) for op in [[0xe8], [0xe9]] + [[0x0f, 0x80 + i] for i in range(16)]
              for rel in (0x44, 0x5152, -0x4e, -0x5150)]
    codes += [b"\xc3", b"\x0f\x0b", b"\xcc", b"\x90", b"\x55", b"\x0f\x0d\x00", b"\x0f\xa2"]
    texts, left = disassembled(X86_64, codes)
    assert not left
    for code, text in zip(codes, texts):
        if text is not None and not text.startswith(NOT_ASKED):
            print("x86_64", code.hex(), *of_x86_64(text, len(code)), text.replace("\t", " "), sep="\t")


if __name__ == "__main__":
    main()
