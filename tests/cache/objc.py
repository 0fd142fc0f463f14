"""What the builder of a cache does with Objective-C: selectors in one pool, method lists that count from it, categories
attached to the classes of other images."""
import struct

RELATIVE, DIRECT = 0x80000000, 0x40000000
MARKER = b"\xf0\x9f\xa4\xaf" # the selector that marks the base


class Pool:
    """Selector names at the end of the main file's text, each once. The base lies in the middle: offsets of names
    before it are negative."""

    def __init__(self, region, names):
        names = sorted(names)
        names.insert(len(names) // 2, MARKER)
        self.at = {}
        for name in names:
            self.at[name] = region.end()
            region.data.extend(name + b"\0")
        self.base = self.at[MARKER]


def relative_methods(image):
    """(address of a list, [addresses of its methods]) of __objc_methlist, which holds nothing else."""
    section = image.dylib.image.section("__objc_methlist")
    at = section.addr if section else 0
    end = at + section.size if section else 0
    while at + 8 <= end:
        flags, count = image.read(at, "<I"), image.read(at + 4, "<I")
        if not flags & RELATIVE: # padding
            at += 4
            continue
        assert flags & 0xFFFC == 12
        yield at, [at + 8 + 12 * i for i in range(count)]
        at += 8 + 12 * count


def selector(image, field):
    """The name that a relative method of the dylib refers to, through a pointer to it."""
    off = struct.unpack("<i", image.dylib.read(field, 4))[0]
    target = image.dylib.pointers[field + off][0]
    data = image.dylib.read(target, 0x1000)
    return field + off, target, data[:data.index(b"\0")]


def optimise(cache):
    """Returns the address and size of the header of optimisations, if this cache has one."""
    how = cache.v["selectors"]
    text = cache.files[0].regions[0]
    lists = [(image, at, methods) for image in cache.images for at, methods in relative_methods(image)]
    pool = None
    if how.startswith("base"):
        pool = Pool(text, {selector(image, m)[2] for image, _, methods in lists for m in methods})
    for image, at, methods in lists:
        if how != "reference":
            image.write(at, "<I", image.read(at, "<I") | DIRECT)
        for m in methods:
            reference, name_at, name = selector(image, m)
            target = image.moved(reference if how == "reference" else name_at) - image.moved(m)
            image.write(m, "<i", pool.at[name] - pool.base if pool else target)
    if cache.v.get("merged"):
        attach_categories(cache, text)
    if how == "base15":
        library = cache.images[0]
        section = library.dylib.image.section("__objc_opt_ro")
        library.write(section.addr, "<I", 16)
        library.write(section.addr + 40, "<q", pool.base - library.moved(section.addr))
    if how != "base":
        return None
    text.data.extend(bytes(-len(text.data) % 8))
    at = text.end()
    text.data.extend(struct.pack("<II6Q", 1, 0, 0, 0, 0, 0, 0, pool.base - cache.base))
    return at, 56


def attach_categories(cache, text):
    """Puts the lists of categories before the class's own into a list of lists, which the class then names with its
    lowest bit set: (image, distance of the list) for each."""
    owners = {}
    for index, image in enumerate(cache.images):
        section = image.dylib.image.section("__objc_catlist")
        for at in range(section.addr, section.addr + section.size, 8) if section else ():
            category = image.dylib.pointers[at][0]
            for field, meta in ((16, False), (24, True)):
                if category + field in image.dylib.pointers:
                    methods = image.moved(image.dylib.pointers[category + field][0])
                    owners.setdefault((class_of(cache, image, category), meta), []).append((index, methods))
    for (cls, meta), lists in owners.items():
        place = methods_place(cache, cls, meta)
        if place is None:
            continue
        region, off = place
        if off in region.pointers:
            owner = next(i for i, image in enumerate(cache.images) if any(
                r.holds(cls) and b <= cls < b + 0x10000 for r, b in image.place.values() if r.kind == "data"))
            lists = lists + [(owner, region.pointers[off][0])]
        text.data.extend(bytes(-len(text.data) % 8))
        address = text.end()
        text.data.extend(struct.pack("<II", 8, len(lists)))
        for index, methods in lists:
            distance = methods - text.end() & 0xFFFFFFFFFFFF
            text.data.extend(struct.pack("<Q", index | distance << 16))
        region.pointers[off] = address | 1, 0, False


def pointer(cache, address):
    """What the pointer at an address of the cache points to; None without one."""
    for file in cache.files:
        for region in file.regions:
            if address - region.address in region.pointers:
                return region.pointers[address - region.address][0]
    return None


def class_of(cache, image, category):
    return pointer(cache, image.moved(category + 8))


def methods_place(cache, cls, meta):
    """Where the pointer to a class's own methods lies: class_ro_t.baseMethods."""
    if meta:
        cls = pointer(cache, cls)
    ro = pointer(cache, cls + 32)
    for file in cache.files:
        for region in file.regions:
            if region.holds(ro + 32):
                return region, ro + 32 - region.address
    return None
