"""Compares what tests/unwind/rows.c says of the first and last address of every row of every FDE with llvm-dwarfdump-22
--eh-frame and --debug-frame. Usage: frames.py "EMULATOR PROGRAM" FOLDER FILE..., where FOLDER is for slices of fat files;
folders among the files are searched. The last line counts."""
import re
import subprocess
import sys

from expressions import packed
from macho import images

X86 = "RAX RDX RCX RBX RSI RDI RBP RSP R8 R9 R10 R11 R12 R13 R14 R15 RIP".split()
I386 = "EAX ECX EDX EBX ESP EBP ESI EDI EIP".split()  # seen: of an __eh_frame, too, where Apple's 4 is ebp


def number(name):
    """The number that DWARF gives a register; None: a vector's."""
    for names in (X86, I386):
        if name in names:
            return names.index(name)
    if name in ("SP", "WSP"):
        return 13 if name == "SP" and number.is_arm else 31
    if name in ("LR", "FP", "PC"):
        return {"LR": 14 if number.is_arm else 30, "FP": 29, "PC": 15}[name]
    match = re.fullmatch(r"[WXR]([0-9]+)|reg([0-9]+)", name)
    value = int(match.group(1) or match.group(2)) if match else 99
    return value if value < 33 else None


def expression(text, word):
    return "expression " + packed(text, word, number).hex()


def plain(row, word):
    """A row as rows.c prints it."""
    cfa, _, rules = row.partition(":")
    if "DW_OP" in cfa:
        text = "CFA=" + expression(cfa[4:], word)
    else:
        text = re.sub(r"^CFA=(\w+)", lambda m: "CFA=r%s" % number(m.group(1)), cfa)
    found = {}
    for name, rule in re.findall(r"(\w+)=(\[[^]]*\]|[^,\[]+(?:, DW_OP[^,=]*)*)", rules):
        register = number(name)
        if register is None or rule == "same":
            continue
        if "DW_OP" in rule:
            rule = "[%s]" % expression(rule[1:-1], word) if rule.startswith("[") else expression(rule, word)
        elif not re.match(r"\[?CFA|undefined", rule):
            rule = "r%s" % number(rule)
        found[register] = rule
    return text + "".join(" r%d=%s" % item for item in sorted(found.items()))


def wanted(path, section, word):
    """FDE and address to the row that must be there."""
    text = subprocess.run(["llvm-dwarfdump-22", section.replace("__", "--").replace("_", "-"), path], capture_output=True,
                          text=True).stdout
    number.is_arm = "Mach-O arm\n" in text
    want = {}
    for entry in re.split(r"\n(?=[0-9a-f]{8} )", text):
        head = re.match(r"([0-9a-f]+) .* FDE cie=.* pc=([0-9a-f]+)\.\.\.([0-9a-f]+)", entry)
        if not head:
            continue
        rows = [(int(a, 16), r) for a, r in re.findall(r"^  0x([0-9a-f]+): (CFA=.*)$", entry, re.M)]
        ends = [a for a, _ in rows[1:]] + [int(head.group(3), 16)]
        for (begin, row), end in zip(rows, ends):
            for pc in (begin, end - 1):
                if begin <= pc < end:
                    # llvm keeps the carry of relative addresses of 32 bits
                    want[head.group(1) + " %x" % (pc & (1 << 8 * word) - 1)] = plain(row, word)
    return want


def compared(section):
    """How many images and rows there are, and how many of the rows differ."""
    files = rows = wrong = 0
    for name, path, place in images(sys.argv[3:], section.encode(), sys.argv[2]):
        want = wanted(path, section, place[3])
        got = subprocess.run(sys.argv[1].split() + [path] + [str(n) for n in place] + [section], capture_output=True,
                             text=True, input="\n".join(want)).stdout.splitlines()
        files += 1
        rows += len(want)
        bad = [(k, w, g) for (k, w), g in zip(want.items(), got) if w != g]
        wrong += len(bad) + abs(len(got) - len(want))
        for key, w, g in bad[:3]:
            print("%s: FDE and address %s: llvm says %s, machsym %s" % (name, key, w, g))
    print("%s: %d images, %d addresses, %d differ" % (section, files, rows, wrong))
    return files, rows, wrong


def main():
    kinds = [compared("__eh_frame"), compared("__debug_frame")]
    return 1 if sum(kind[2] for kind in kinds) or not sum(kind[1] for kind in kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
