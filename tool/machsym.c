/* The implementation of the library, by itself: nothing else of the tool changes as seldom, or takes as
 * long to compile. */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"
