/* Fuzzes the D demangler.
 * Run: build/fuzz/names_d -dict=fuzz/names_d.dict fuzz/corpus/names_d */
#define TEST_ROOM   <src/names/d.h>
#define FUZZ_ENTRY  ms_dmd_run
#define FUZZ_PREFIX "_D"
#define FUZZ_STYLES 0
#include "fuzz_names.h"
