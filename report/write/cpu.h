/* ==== >> write/cpu ====
 * Job: the state of a thread as JSON: its registers, and the instructions around its pc.
 * Offers: cpu_put_registers, cpu_put_code.
 * Never: guesses what a value points to: the report or a file of symbols says it. */
#ifndef REPORT_WRITE_CPU_H
#define REPORT_WRITE_CPU_H

#include "../base/text.h"
#include "../model/report.h"

/* Writes the members registers and esr of a thread; nothing if the report has no registers. */
void cpu_put_registers(text *t, const report *r, const report_thread *thread);
/* Writes the member instructions; nothing if the report has no instructions. */
void cpu_put_code(text *t, const report_thread *thread);

#endif
