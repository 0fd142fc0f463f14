/* ==== >> model/days ====
 * Job: days of the calendar, as reports tell them.
 * Offers: day_of, text_day, json_put_day.
 * Never: knows of hours or time zones. */
#ifndef MACHSYM_TOOL_DAYS_H
#define MACHSYM_TOOL_DAYS_H

#include "../base/text.h"
#include "machsym.h"

/* A day by its number, which is one more than that of the day before. 0: not told. */
typedef uint32_t day;

/* The day that a date begins with: "2026-03-14", whatever follows; 0 when there is none. */
day day_of(machsym_str date);
/* "2026-03-14"; adds nothing for 0. */
void text_day(text *t, day number);
/* As a member of JSON; null for 0. */
void json_put_day(text *t, const char *key, day number);

#endif
