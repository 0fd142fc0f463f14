# Finds the newest installed version of an LLVM program: `find_tool NAME` prints its path or nothing, `need
# NAME` exits when there is none.
find_tool() # name
{
    local version found
    for version in $(seq 30 -1 14); do
        found=$(command -v "$1-$version") && { echo "$found"; return; }
    done
    command -v "$1" || true
}

need() # name
{
    local found
    found=$(find_tool "$1")
    [ -n "$found" ] && { echo "$found"; return; }
    echo "bench: $1 is not installed (Debian: apt-get install clang lld llvm)" >&2
    exit 1
}
