/* The functions of flat.h, with all of machsym.h: one file for the package manager to compile. */
#include "../../flat.c"
