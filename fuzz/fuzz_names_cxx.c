/* Fuzzes the C++ demangler, and the choice between the languages.
 * Run: build/fuzz/names_cxx -dict=fuzz/names_cxx.dict fuzz/corpus/names_cxx */
#define TEST_ROOM   <src/names/cxx_printer.h>
#define FUZZ_ENTRY  ms_dmcxp_run
#define FUZZ_PREFIX "_Z"
#define FUZZ_STYLES 0
#include "fuzz_names.h"
