/* What Swift imports as the module CMachsym. */
#include "../../../flat.h"
