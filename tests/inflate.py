"""Writes streams that Python's zlib compressed, with what it says of them: tests/inflate.sh has test_inflate read them.
A case: kind (0 raw, 1 zlib), verdict (0 whole, 1 cut short, 2 no stream), then three times a length of 32 bits in
little-endian order: how much of the input was used, the input with its bytes, the output with its bytes.
Usage: inflate.py OUT FILE..."""

import random
import struct
import sys
import zlib

STRATEGIES = [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]
RANDOM = random.Random(20261122)


def compress(data, number):
    """A stream of its own settings for each number; some have blocks of several kinds."""
    bits = 9 + number % 7
    zlibbed = number % 2
    packer = zlib.compressobj(number % 10, zlib.DEFLATED, bits if zlibbed else -bits, 1 + number % 9,
                              STRATEGIES[number // 10 % 5])
    cut = len(data) // 3 if number % 3 == 0 else 0
    packed = packer.compress(data[:cut])
    if cut:
        packed += packer.flush(zlib.Z_FULL_FLUSH if number % 2 else zlib.Z_SYNC_FLUSH)
    return zlibbed, packed + packer.compress(data[cut:]) + packer.flush()


def verdict(kind, packed):
    """What zlib says: verdict, output, bytes used."""
    reader = zlib.decompressobj(15 if kind else -15)
    try:
        out = reader.decompress(packed)
    except zlib.error:
        return 2, b"", 0
    return (0 if reader.eof else 1), out, len(packed) - len(reader.unused_data)


def damage(packed):
    """The stream with a part missing, bits flipped, or bytes after it."""
    packed = bytearray(packed)
    how = RANDOM.randrange(4)
    if how == 0:
        return bytes(packed[:RANDOM.randrange(len(packed) + 1)])
    if how == 1:
        return bytes(packed) + b"behind"
    for _ in range(RANDOM.choice([1, 1, 3])):
        packed[RANDOM.randrange(min(len(packed), 200 if how == 2 else 1 << 30))] ^= 1 << RANDOM.randrange(8)
    return bytes(packed)


def pieces(paths):
    """Pieces of files of all lengths, without end."""
    files = []
    for path in paths:
        with open(path, "rb") as file:
            files.append(file.read())
    files += [b"", b"a", b"ab" * 5000, bytes(70000), bytes(range(256)) * 9, RANDOM.randbytes(70000)]
    number = 0
    while True:
        data = files[number % len(files)]
        size = RANDOM.choice([10, 300, 5000, 40000])
        at = RANDOM.randrange(max(1, len(data) - size))
        yield data if number < len(files) and len(data) < 400000 else data[at:at + size]
        number += 1


def main():
    with open(sys.argv[1], "wb") as out:
        for number, data in zip(range(1000), pieces(sys.argv[2:])):
            kind, packed = compress(data, number)
            for stream in packed, damage(packed):
                said, text, used = verdict(kind, stream)
                assert stream is not packed or (said == 0 and text == data)
                out.write(struct.pack("<BBII", kind, said, used, len(stream)) + stream)
                out.write(struct.pack("<I", len(text)) + text)


if __name__ == "__main__":
    main()
