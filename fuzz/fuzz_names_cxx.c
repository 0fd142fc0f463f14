/* Fuzzes the C++ demangler, and the choice between the languages:
 *   make build/fuzz/names_cxx
 *   mkdir -p build/names_cxx && build/fuzz/names_cxx -dict=fuzz/names_cxx.dict -max_len=4096 build/names_cxx \
 *       fuzz/corpus/names_cxx */
#define FUZZ_ENTRY  ms_dm_cxx
#define FUZZ_PREFIX "_Z"
#define FUZZ_STYLES 0
#include "fuzz_names.h"
