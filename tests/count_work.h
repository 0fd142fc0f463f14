/* Makes the tool's modules count what they do: the Makefile includes it before each of them for
 * test_map_bounds, test_report_bounds and test_report_limits. */
#ifndef COUNT_WORK_H
#define COUNT_WORK_H

extern unsigned long long work; /* bytes and records visited */
#define MACHSYM_COUNT_WORK(n) ((void)(work += (n)))

#endif
