#!/bin/bash -eu
# Builds all fuzz targets the way that OSS-Fuzz asks for: into $OUT, with $CC, $CXX, $CFLAGS and $LIB_FUZZING_ENGINE from
# outside; seeds as NAME_seed_corpus.zip, dictionaries as NAME.dict, options as NAME.options. Without these variables it
# takes clang's libFuzzer and build/oss-fuzz.
cd "${SRC:+$SRC/machsym}" 2>/dev/null || cd "$(dirname "$0")/.."
OUT=$(mkdir -p "${OUT:-build/oss-fuzz}" && cd "${OUT:-build/oss-fuzz}" && pwd)
CC=${CC:-clang}
CXX=${CXX:-clang++}
CFLAGS=${CFLAGS:--O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined}
LIB_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}

make -j"$(nproc)" fuzz FUZZ_CC="$CC" FUZZ_FLAGS="$CFLAGS -DMACHSYM_ARENA_CHUNK=1" FUZZ_LINK="$CXX" \
    FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    cp "build/fuzz/$name" "$OUT/$name"
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" fuzz/corpus/"$name"/*
    dict=$(sed -n 's/^ \*.* -dict=\(fuzz\/[a-z_]*.dict\).*/\1/p' "$source" | head -n 1)
    [ -z "$dict" ] || cp "$dict" "$OUT/$name.dict"
    printf '[libfuzzer]\nmax_len = 20000\ntimeout = 10\nrss_limit_mb = 1024\n' >"$OUT/$name.options"
done
