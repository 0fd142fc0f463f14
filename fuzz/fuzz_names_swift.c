/* Fuzzes the Swift demangler.
 * Run: build/fuzz/names_swift -dict=fuzz/names_swift.dict fuzz/corpus/names_swift */
#define TEST_ROOM   <src/names/swift_printer.h>
#define FUZZ_ENTRY  ms_dmswp_run
#define FUZZ_PREFIX "$s"
#define FUZZ_STYLES                                                                                          \
    0, MACHSYM_DEMANGLE_SIMPLIFIED, ms_DMSW_NO_SUGAR, MACHSYM_DEMANGLE_SIMPLIFIED | ms_DMSW_NO_ASYNC
#include "fuzz_names.h"
