/* ==== >> model/days ====
 * Job: days of the calendar, as in reports.
 * Offers: day_of, text_day, json_put_day.
 * Never: knows of hours or time zones. */
#ifndef MACHSYM_TOOL_DAYS_H
#define MACHSYM_TOOL_DAYS_H

#include "../base/text.h"
#include "machsym.h"

/* A day by its number; consecutive days have consecutive numbers. 0: unknown. */
typedef uint32_t day;

/* Returns the day at the start of a date: "2026-03-14", whatever follows; 0 if the date has another form. */
day day_of(machsym_str date);
/* Appends "2026-03-14"; nothing for 0. */
void text_day(text *t, day number);
/* Adds a JSON member; null for 0. */
void json_put_day(text *t, const char *key, day number);

#endif
