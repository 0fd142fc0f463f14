/* For programs that are linked with the build that counts (count_work.h). COUNTED in the Makefile
 * lists them. */
#ifndef COUNTERS_H
#define COUNTERS_H

unsigned long long work;    /* bytes and records visited */
unsigned long long mallocs; /* calls of malloc that the header and the tool's modules made */

#endif
