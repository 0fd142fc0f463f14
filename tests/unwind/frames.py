"""Compares what tests/unwind/rows.c says of the first and last address of every row of every FDE with llvm-dwarfdump-22
--eh-frame; of expressions only that there is one. Usage: frames.py "EMULATOR PROGRAM" FOLDER FILE..., where FOLDER is for
slices of fat files; folders among the files are searched. The last line counts."""
import re
import subprocess
import sys

from macho import images

X86 = "RAX RDX RCX RBX RSI RDI RBP RSP R8 R9 R10 R11 R12 R13 R14 R15 RIP".split()
I386 = "EAX ECX EDX EBX EBP ESP ESI EDI EIP".split()


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


def plain(row):
    """A row as rows.c prints it."""
    cfa, _, rules = row.partition(":")
    text = re.sub(r"^CFA=(\w+)", lambda m: "CFA=" + ("expression" if m.group(1).startswith("DW_OP") else
                                                    "r%s" % number(m.group(1))), cfa)
    text = re.sub("expression.*", "expression", text)
    found = {}
    for name, rule in re.findall(r"(\w+)=(\[[^]]*\]|[^,\[]+(?:, DW_OP[^,=]*)*)", rules):
        register = number(name)
        if register is None or rule == "same":
            continue
        if "DW_OP" in rule:
            rule = "[expression]" if rule.startswith("[") else "expression"
        elif not re.match(r"\[?CFA|undefined", rule):
            rule = "r%s" % number(rule)
        found[register] = rule
    return text + "".join(" r%d=%s" % item for item in sorted(found.items()))


def wanted(path):
    """FDE and address to the row that must be there."""
    text = subprocess.run(["llvm-dwarfdump-22", "--eh-frame", path], capture_output=True, text=True).stdout
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
                    want[head.group(1) + " %x" % pc] = plain(row)
    return want


def main():
    files = rows = wrong = 0
    for name, path, place in images(sys.argv[3:], b"__eh_frame", sys.argv[2]):
        want = wanted(path)
        got = subprocess.run(sys.argv[1].split() + [path] + [str(n) for n in place], capture_output=True, text=True,
                             input="\n".join(want)).stdout.splitlines()
        files += 1
        rows += len(want)
        bad = [(k, w, g) for (k, w), g in zip(want.items(), got) if w != g]
        wrong += len(bad) + abs(len(got) - len(want))
        for key, w, g in bad[:3]:
            print("%s: FDE and address %s: llvm says %s, machsym %s" % (name, key, w, g))
    print("%d images, %d addresses, %d differ" % (files, rows, wrong))
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
