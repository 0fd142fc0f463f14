/* Fuzzes the D demangler:
 *   make build/fuzz/names_d
 *   mkdir -p build/names_d && build/fuzz/names_d -dict=fuzz/names_d.dict -max_len=4096 build/names_d \
 *       fuzz/corpus/names_d */
#define MACHSYM_NO_SWIFT
#define MACHSYM_NO_CXX
#define MACHSYM_NO_RUST
#define FUZZ_ENTRY  ms_dm_d
#define FUZZ_PREFIX "_D"
#define FUZZ_STYLES 0
#include "fuzz_names.h"
