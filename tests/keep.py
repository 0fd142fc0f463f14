"""Makes dSYMs with Info.plists of all kinds for tests/keep.sh, and says what Python's plistlib reads in them. Each is the DWARF file
with a UUID of its own. Usage: keep.py DWARF UUID OUT: OUT/*.dSYM, and OUT/want with "UUID VERSION BUILD" a line."""
import datetime
import os
import plistlib
import sys

DWARF, UUID, OUT = sys.argv[1:4]
SHORT, BUILD = "CFBundleShortVersionString", "CFBundleVersion"

LISTS = [
    {SHORT: "1.2", BUILD: "345"},
    {BUILD: "7"},
    {SHORT: "2.0"},
    {BUILD: 12345678901},
    {SHORT: "1 <&> \"2\" 'x'", BUILD: "\u00e9\u4e16\U0001F600"},
    {SHORT: "x" * 300, BUILD: ""},
    {"Name": SHORT, "List": [SHORT, {BUILD: "no"}], "Data": b"<key>", BUILD: "after"},
    {"ApplicationProperties": {SHORT: "3.1", BUILD: "99"}, "ArchiveVersion": 2, "Name": "App"},
    {"Nested": {SHORT: "no", "ApplicationProperties": {BUILD: "no"}}, SHORT: "4", BUILD: "5"},
    {"Date": datetime.datetime(2026, 1, 2), "Real": 1.5, "Yes": True, "Empty": {}, "None": [], SHORT: "6", BUILD: "7"},
    {**{"k%d" % i: "v%d" % i for i in range(400)}, SHORT: "many", BUILD: "keys"},
    {"\u00e9" + SHORT: "no", SHORT + " ": "no", SHORT: "8", BUILD: "9"},
]


def told(text):
    """What plistlib reads: the root's key, else that of ApplicationProperties."""
    read = plistlib.loads(text)
    inner = read.get("ApplicationProperties", {})
    return [str(read.get(key, inner.get(key, ""))) for key in (SHORT, BUILD)]


def main():
    with open(DWARF, "rb") as file:
        dwarf = file.read()
    uuid = bytes.fromhex(UUID.replace("-", ""))
    assert dwarf.count(uuid) == 1
    texts = [plistlib.dumps(v, fmt=f) for v in LISTS for f in (plistlib.FMT_XML, plistlib.FMT_BINARY)]
    commented = b'<?xml version="1.0"?>\n<!-- <dict> --><plist version="1.0"><dict><key>x</key><array><dict/><string/></array>' \
                b"<key>CFBundle<!-- c -->Version</key>\n<string><![CDATA[1<2]]>&#x41;&#66;</string></dict></plist>"
    texts += [commented, b"\xef\xbb\xbf" + texts[0]]
    with open(os.path.join(OUT, "want"), "w", encoding="utf-8") as want:
        for i, text in enumerate(texts):
            own = uuid[:-2] + i.to_bytes(2, "big")
            folder = os.path.join(OUT, "d%d.dSYM" % i, "Contents", "Resources", "DWARF")
            os.makedirs(folder)
            with open(os.path.join(folder, "App"), "wb") as out:
                out.write(dwarf.replace(uuid, own))
            with open(os.path.join(OUT, "d%d.dSYM" % i, "Contents", "Info.plist"), "wb") as out:
                out.write(text)
            name = own.hex().upper()
            parts = (name[:8], name[8:12], name[12:16], name[16:20], name[20:])
            want.write("%s|%s|%s\n" % ("-".join(parts), *told(text)))


if __name__ == "__main__":
    main()
