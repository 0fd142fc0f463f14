/* Fuzzes the Rust demangler.
 * Run: build/fuzz/names_rust -dict=fuzz/names_rust.dict fuzz/corpus/names_rust */
#define TEST_ROOM   <src/names/rust.h>
#define FUZZ_ENTRY  ms_dmrs_run
#define FUZZ_PREFIX "_R"
#define FUZZ_STYLES 0, MACHSYM_DEMANGLE_RUST_HASH
#include "fuzz_names.h"
