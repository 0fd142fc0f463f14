/* Fuzzes the D demangler:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -I. fuzz/fuzz_names_d.c -o build/fuzz_names_d
 *   mkdir -p build/d && build/fuzz_names_d -max_len=4096 build/d [folder of seeds, one name a file]
 * The first byte chooses the flags. The name must end in time, and nothing may depend on the buffer. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include "names_d.h"
#define FUZZ_ENTRY ms_dm_d
#include "fuzz_names.h"
