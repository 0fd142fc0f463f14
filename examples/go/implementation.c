/* machsym itself, compiled into the package. */
#define MACHSYM_IMPLEMENTATION
#include "../../machsym.h"
