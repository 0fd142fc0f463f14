"""The shared caches that tests read: which files, which versions of each table."""
IMAGES = ["libobjc.A.dylib", "libbase.dylib", "Zoo", "Farm", "libBarn.dylib", "libMeadow.dylib"]
ALL = range(len(IMAGES))
MACOS, IOS, WATCHOS, CATALYST = 1, 2, 4, 6
ARM64E, ARMV7, ARMV7K = (0x0100000C, 0x80000002), (12, 9), (12, 12)
WHOLE = "text data linkedit"
NEWER = "text const data linkedit"

# dylibs: the folder of dylibs; cpu: what their headers then say; files: (suffix, mappings, images in them); header: its size,
# which says what fields there are; list: in which fields the images are; split: which kind of records names the other files
# locals: keep, strip (macOS) or redact them; local_symbols: bytes of an entry of the table that has the names
# selectors: what the first field of a relative method counts to: "reference" (a pointer to the name), "name", "base" (the
# name, counted from the base that the header of optimisations has), "library" (from the base that libobjc's table has)
# stubs: "unnamed": no indirect symbols name them; "direct": they go straight to the function besides;
# "islands": no section of stubs either, code that is a jump to far away
# merged: categories are attached to their classes as lists of lists
VARIANTS = {
    "ios17": dict(
        arch="arm64e", dylibs="arm64", cpu=ARM64E, base=0x180000000, header=0x200, list="new", slide=5,
        files=[("", NEWER, ALL)], locals="redact", local_symbols=16, selectors="base", merged=True, stubs="direct",
        platform=IOS, os=0x00110501),
    "ios16": dict(
        arch="arm64e", dylibs="arm64", cpu=ARM64E, base=0x180000000, header=0x1E0, list="new", slide=3, split=2,
        files=[("", "text linkedit", [0, 1]), (".01", "text linkedit", [2, 3, 4, 5]), (".25.data", "header const data", ALL),
               (".symbols", "", [])],
        locals="redact", local_symbols=16, selectors="base", platform=IOS, os=0x00100300),
    "ios15": dict(
        arch="arm64e", dylibs="arm64", cpu=ARM64E, base=0x180000000, header=0x1C8, list="new", slide=3, split=1,
        files=[("", NEWER, [0, 1, 5]), (".1", NEWER, [2]), (".2", NEWER, [3, 4]), (".symbols", "", [])],
        locals="redact", local_symbols=16, selectors="library", stubs="unnamed",
        platform=IOS, os=0x000F0102),
    "ios14": dict(
        arch="arm64e", dylibs="arm64", cpu=ARM64E, base=0x180000000, header=0x140, list="old", slide=3,
        files=[("", NEWER, ALL)], locals="redact", local_symbols=12, selectors="name", stubs="islands", platform=IOS, os=0),
    "ios13": dict(
        arch="arm64", dylibs="arm64", base=0x180000000, header=0x138, list="old", slide=2, files=[("", WHOLE, ALL)],
        locals="redact", local_symbols=12, selectors="reference", platform=IOS, os=0),
    "ios8": dict(
        arch="arm64", dylibs="arm64", base=0x180000000, header=0x98, list="old", slide=1, files=[("", WHOLE, ALL)],
        locals="redact", local_symbols=12, selectors="reference", platform=0, os=0),
    "ios6": dict(
        arch="armv7", dylibs="arm64_32", cpu=ARMV7, base=0x2C000000, header=0x68, list="old", slide=1,
        files=[("", WHOLE, ALL)], locals="keep", selectors="reference", platform=0, os=0),
    "macos12": dict(
        arch="x86_64h", dylibs="x86_64", base=0x7FF800000000, header=0x1C8, list="new", slide=2, split=1,
        files=[("", NEWER, [0, 1]), (".1", NEWER, [2, 3, 4, 5])], locals="strip", selectors="reference",
        stubs="unnamed",
        platform=MACOS, os=0x000C0600, alternate=(CATALYST, 0x000F0600)),
    "watchos9": dict(
        arch="arm64_32", dylibs="arm64_32", base=0x1A000000, header=0x1C8, list="new", slide=4,
        files=[("", NEWER, ALL)], locals="redact", local_symbols=16, selectors="reference", platform=WATCHOS,
        os=0x00090100),
    "watchos5": dict(
        arch="armv7k", dylibs="arm64_32", cpu=ARMV7K, base=0x1A000000, header=0xF8, list="old", slide=2,
        files=[("", WHOLE, ALL)], locals="redact", local_symbols=12, selectors="reference", platform=WATCHOS, os=0),
}

# What bench/run measures: 1,000 images in files of 2 GB, which are mostly holes.
LARGE = {
    "large": dict(
        arch="arm64e", dylibs="arm64", cpu=ARM64E, base=0x180000000, header=0x1E0, list="new", slide=3, split=2,
        files=[("", "text linkedit", range(0, 400)), (".01", "text linkedit", range(400, 1000)),
               (".25.data", "header const data", range(1000)), (".symbols", "", [])],
        copies=167, count=1000, room=0x80000, stride=0x8000000, spread=0x10000000,
        locals="redact", local_symbols=16, selectors="base", platform=IOS, os=0x00100300),
}
