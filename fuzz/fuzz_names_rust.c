/* Fuzzes the Rust demangler:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -I. fuzz/fuzz_names_rust.c -o build/fuzz_names_rust
 *   mkdir -p build/rust && build/fuzz_names_rust -max_len=4096 build/rust [folder of seeds, one name a file]
 * The first byte chooses the flags. The name must end in time, and nothing may depend on the buffer. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include "names_rust.h"
#define FUZZ_ENTRY ms_dm_rust
#include "fuzz_names.h"
