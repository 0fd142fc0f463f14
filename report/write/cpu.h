/* ==== >> write/cpu ====
 * Job: the state of a thread as JSON: its registers, and the instructions where it stood.
 * Offers: cpu_put_registers, cpu_put_code.
 * Never: guesses what a value points to: the report or a file of symbols tells. */
#ifndef REPORT_WRITE_CPU_H
#define REPORT_WRITE_CPU_H

#include "../base/text.h"
#include "../model/report.h"

/* The members registers and esr of a thread; nothing when the report tells none. */
void cpu_put_registers(text *t, const report *r, const report_thread *thread);
/* The member instructions; nothing when the report tells none. */
void cpu_put_code(text *t, const report_thread *thread);

#endif
