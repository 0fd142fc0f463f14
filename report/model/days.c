/* Days; see days.h. */
#include "days.h"
#include "../base/json_put.h"

/* Days of a year before each month, without a leap day. */
static const unsigned before_month[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

static bool day_is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned day_days_before_month(unsigned year, unsigned month)
{
    return before_month[month - 1] + (month > 2 && day_is_leap(year));
}

/* Uses the Gregorian calendar for all dates, also before its introduction. */
static unsigned day_days_before_year(unsigned year)
{
    unsigned past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400;
}

/* Reads a fixed number of digits of a date. Returns false for anything else. */
static bool day_take_digits(machsym_str date, size_t at, size_t count, unsigned *number)
{
    *number = 0;
    for (size_t i = at; i < at + count; i++) {
        if (i >= date.len || date.ptr[i] < '0' || date.ptr[i] > '9')
            return false;
        *number = *number * 10 + (unsigned)(date.ptr[i] - '0');
    }
    return true;
}

day day_of(machsym_str date)
{
    unsigned year;
    unsigned month;
    unsigned number;
    if (date.len < 10 || date.ptr[4] != '-' || date.ptr[7] != '-' || !day_take_digits(date, 0, 4, &year) ||
        !day_take_digits(date, 5, 2, &month) || !day_take_digits(date, 8, 2, &number))
        return 0;
    if (year == 0 || month == 0 || month > 12 || number == 0)
        return 0;
    unsigned first = day_days_before_month(year, month);
    unsigned length = day_days_before_month(year, month + 1) - first;
    return number <= length ? day_days_before_year(year) + first + number : 0;
}

void text_day(text *t, day number)
{
    unsigned year = number / 366 + 1; /* the year or the one before it */
    unsigned month = 12;
    if (number == 0)
        return;
    while (day_days_before_year(year + 1) < number)
        year++;
    number -= day_days_before_year(year);
    while (day_days_before_month(year, month) >= number)
        month--;
    number -= day_days_before_month(year, month);
    unsigned parts[] = {year, month, number};
    for (size_t i = 0; i < 3; i++) {
        unsigned least = i == 0 ? 1000 : 10;
        text_c(t, i > 0 ? "-" : "");
        for (; least > 1 && parts[i] < least; least /= 10)
            text_char(t, '0');
        text_dec(t, parts[i]);
    }
}

void json_put_day(text *t, const char *key, day number)
{
    text words = text_in(t->memory);
    text_day(&words, number);
    json_put_str(t, key, str_make(words.v, words.len));
    text_free(&words);
}
