/* ==== >> model/registers ====
 * Job: the registers of a thread, as a report tells them.
 * Offers: registers_add, registers_find, registers_value, registers_at, registers_of_json,
 * registers_thread.
 * Never: says what a value means.
 *
 * Text and JSON have different orders and names for the same registers. Here they have one order, that of
 * Apple's text, and one name each: that of Apple's JSON. */
#ifndef REPORT_MODEL_REGISTERS_H
#define REPORT_MODEL_REGISTERS_H

#include "../base/json.h"
#include "machsym.h"
#include "report.h"

/* Adds a register to the thread, which must be the last one that got some. Only the first of a name is
 * kept. */
void registers_add(report *r, report_thread *thread, machsym_str name, uint64_t value, machsym_str note);
/* The thread whose registers tell: the crashed one, even where an exception's stack tells what happened.
 * NULL: there is no thread. */
const report_thread *registers_thread(const report *r);
/* The register so called; NULL: the report does not tell it. */
const report_register *registers_find(const report *r, const report_thread *thread, const char *name);
bool registers_value(const report *r, const report_thread *thread, const char *name, uint64_t *out);
/* The register of that index, below thread->register_count. */
const report_register *registers_at(const report *r, const report_thread *thread, uint32_t index);
/* Adds those of an object of JSON that has a member for each register, a number or an object with a number
 * "value"; "x" may be an array of x0, x1 and so on. */
void registers_of_json(report *r, report_thread *thread, const json *doc, uint32_t object);

#endif
