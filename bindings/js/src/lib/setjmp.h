/* What machsym_report.h uses of the C library when memory runs out, for WebAssembly without one. */
#ifndef LIB_SETJMP_H
#define LIB_SETJMP_H

/* Nothing returns here a second time: longjmp stops the instance with a trap. The host then has the error, and drops the
 * instance with all its memory. */
typedef int jmp_buf[1];

#define setjmp(home) ((void)(home), 0)
_Noreturn void longjmp(jmp_buf home, int value);

#endif
