# shellcheck shell=bash
# What the scripts of bench share; $dir is the folder of inputs and results.
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
    echo "bench: $1 is not installed (Debian: apt-get install clang-22 lld-22 llvm-22)" >&2
    exit 1
}

# apt-get with lists, settings and caches of its own under $dir/apt: no source line has to be added to the
# system, nothing is installed, and no root is needed.
own_apt()
{
    apt-get -q -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root "$@"
}

prepare_apt()
{
    [ -e "$dir/apt/ready" ] && return
    local kind key=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
    for kind in deb deb-src; do
        echo "$kind [$key] http://deb.debian.org/debian bookworm main"
        echo "$kind [$key] http://deb.debian.org/debian-security bookworm-security main"
    done > "$dir/apt/sources.list"
    own_apt update > "$dir/apt/update.log"
    touch "$dir/apt/ready"
}

# Downloads binary packages of Debian and unpacks them under FOLDER.
unpack_debs() # folder package...
{
    local to=$1 deb
    shift
    prepare_apt
    mkdir -p "$to.part/debs"
    (cd "$to.part/debs" && own_apt download "$@" > "$to.log")
    for deb in "$to".part/debs/*.deb; do
        dpkg-deb -x "$deb" "$to.part"
    done
    mv "$to.part" "$to"
}
