/* Facts that reports have in forms of their own, in one form. */
#include "report.h"

void report_set_thrown(report *r, machsym_str name, machsym_str reason)
{
    text t = {0};
    if (name.len == 0) {
        report_set_fact(r, FACT_REASON, reason);
        return;
    }
    text_c(&t, "*** Terminating app due to uncaught exception '");
    text_str(&t, name);
    text_c(&t, reason.len > 0 ? "', reason: '" : "'");
    text_str(&t, reason);
    text_c(&t, reason.len > 0 ? "'" : "");
    report_set_fact(r, FACT_APP_INFO, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

void report_set_error(report *r, machsym_str kind, machsym_str message)
{
    bool is_exception = str_starts(kind, "EXC_");
    if (!is_exception && !str_starts(kind, "SIG")) {
        report_set_thrown(r, kind, message);
        return;
    }
    bool is_known = r->facts[FACT_EXCEPTION].len > 0;
    report_set_fact(r, is_known && !is_exception ? FACT_SIGNAL : FACT_EXCEPTION, kind);
    report_set_fact(r, str_starts(message, "KERN_") ? FACT_SUBTYPE : FACT_DESCRIPTION, message);
}

void report_set_pair(report *r, report_fact fact, machsym_str a, machsym_str b)
{
    text t = {0};
    text_str(&t, a);
    if (b.len > 0) {
        text_c(&t, a.len > 0 ? " (" : "(");
        text_str(&t, b);
        text_char(&t, ')');
    }
    report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

static void put_two(text *t, char before, uint64_t number)
{
    text_char(t, before);
    text_char(t, (char)('0' + number / 10 % 10));
    text_char(t, (char)('0' + number % 10));
}

/* Days count from 1 March of the year 0, so that a leap day ends its year: 146097 make 400 years, 153 make
 * five months from March or August on. */
void text_time(text *t, uint64_t seconds)
{
    enum { DAYS_TO_1970 = 719468, DAYS_400 = 146097 };
    uint64_t day = seconds / 86400 + DAYS_TO_1970;
    uint64_t second = seconds % 86400;
    uint64_t in_400 = day % DAYS_400;
    uint64_t year = (in_400 - in_400 / 1460 + in_400 / 36524 - in_400 / 146096) / 365;
    uint64_t in_year = in_400 - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * in_year + 2) / 153;
    uint64_t in_month = in_year - (153 * month + 2) / 5;
    uint64_t calendar_month = month < 10 ? month + 3 : month - 9;
    text_dec(t, year + day / DAYS_400 * 400 + (calendar_month <= 2));
    put_two(t, '-', calendar_month);
    put_two(t, '-', in_month + 1);
    put_two(t, 'T', second / 3600);
    put_two(t, ':', second / 60 % 60);
    put_two(t, ':', second % 60);
    text_char(t, 'Z');
}

void report_set_time(report *r, report_fact fact, uint64_t seconds)
{
    text t = {0};
    if (seconds == 0)
        return;
    text_time(&t, seconds);
    report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}
