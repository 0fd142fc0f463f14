/* What faults.c and the library that it loads into programs (faults_memory.c) share. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdatomic.h>
#include <stdint.h>

enum { FAULTS_BEGIN = 0x6d616368 }; /* of prctl: the loader is done, the program begins */

typedef struct memory_plan {
    _Atomic uint64_t calls; /* for memory, so far */
    uint64_t fail_at;       /* which of them fails, from 1; 0: none */
    uint64_t stays;         /* 1: all after it fail, too */
} memory_plan;

#endif
