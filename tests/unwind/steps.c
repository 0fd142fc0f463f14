/* Callers at every instruction of a trace of tests/unwind/steps.py: stack pointer, pc and saved registers must be what the
 * emulator's call log says. Usage: steps TRACE. */
#define MACHSYM_IMPLEMENTATION
#include "../../machsym.h"
#include "trace.h"

int main(int argc, char **argv)
{
    static const char *const names[TRACE_HOWS] = {"context", "compact",  "fp",   "eh_frame",
                                                  "signal",  "prologue", "leaf", "async"};
    trace t;
    if (argc != 2 || !trace_run(&t, argv[1], 20))
        return 2;
    printf("%lu steps, %lu wrong:", t.steps, t.wrong);
    for (unsigned i = 0; i < TRACE_HOWS; i++)
        if (t.how[i] != 0)
            printf(" %s %lu", names[i], t.how[i]);
    puts("");
    trace_close(&t);
    return t.wrong != 0 || t.steps == 0;
}
