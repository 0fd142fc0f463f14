"""python -m machsym FILE LOAD_ADDRESS ADDRESS... prints what is at the addresses."""
import sys

import machsym


def main() -> int:
    if len(sys.argv) < 4:
        print("usage: python -m machsym FILE LOAD_ADDRESS ADDRESS...", file=sys.stderr)
        return 2
    addresses = [int(a, 16) for a in sys.argv[3:]]
    try:
        with machsym.open(sys.argv[1]) as source:
            for address, frames in zip(addresses, source.lookup(addresses, load=int(sys.argv[2], 16))):
                for f in frames:
                    print("0x%x %s (%s:%d)" % (address, f.name, f.file, f.line))
                if not frames:
                    print("0x%x" % address)
    except machsym.Error as err:
        print("machsym: %s" % err, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
