/* ==== >> model/registers ====
 * Job: the registers of a thread, as in a report.
 * Offers: registers_add, registers_find, registers_value, registers_at, registers_of_json,
 * registers_thread.
 * Never: says what a value means.
 *
 * Text and JSON have different orders and names for the same registers. Here the order is that of Apple's text,
 * and the names are those of Apple's JSON. */
#ifndef REPORT_MODEL_REGISTERS_H
#define REPORT_MODEL_REGISTERS_H

#include "../base/json.h"
#include "machsym.h"
#include "report.h"

/* Adds a register to a thread. Only the thread that got a register last, or a new one, may get more. Of equal
 * names, the first is kept. */
void registers_add(report *r, report_thread *thread, machsym_str name, uint64_t value, machsym_str note);
/* Returns the thread whose registers matter: the crashed one, even if the exception's stack shows what
 * happened. NULL: no thread. */
const report_thread *registers_thread(const report *r);
/* Returns the register with this name; NULL if the report does not have it. */
const report_register *registers_find(const report *r, const report_thread *thread, const char *name);
bool registers_value(const report *r, const report_thread *thread, const char *name, uint64_t *out);
/* Returns the register of an index below thread->register_count. */
const report_register *registers_at(const report *r, const report_thread *thread, uint32_t index);
/* Adds the registers of a JSON object, one member each: a number, or an object with a number "value". "x" may
 * be an array of x0, x1 and so on. */
void registers_of_json(report *r, report_thread *thread, const json *doc, uint32_t object);

#endif
