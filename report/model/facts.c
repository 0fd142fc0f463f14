/* Facts that formats write in different ways, in one form. */
#include "report.h"
#include "../base/digits.h"

void report_set_thrown(report *r, machsym_str name, machsym_str reason)
{
    text t = text_in(r->memory);
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
    text t = text_in(r->memory);
    text_str(&t, a);
    if (b.len > 0) {
        text_c(&t, a.len > 0 ? " (" : "(");
        text_str(&t, b);
        text_char(&t, ')');
    }
    report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

void report_set_os(report *r, machsym_str name, machsym_str version, machsym_str build)
{
    text t = text_in(r->memory);
    text_str(&t, name);
    text_c(&t, name.len > 0 && version.len > 0 ? " " : "");
    text_str(&t, version);
    report_set_pair(r, FACT_OS, str_make(t.v, t.len), build);
    text_free(&t);
}

static void report_put_two(text *t, char before, uint64_t number)
{
    text_char(t, before);
    text_char(t, (char)('0' + number / 10 % 10));
    text_char(t, (char)('0' + number % 10));
}

/* Days count from 1 March of the year 0, so that a leap day is the last of its year. 400 years have 146097
 * days, and five months from March or August on have 153. */
void report_text_time(text *t, uint64_t seconds)
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
    report_put_two(t, '-', calendar_month);
    report_put_two(t, '-', in_month + 1);
    report_put_two(t, 'T', second / 3600);
    report_put_two(t, ':', second / 60 % 60);
    report_put_two(t, ':', second % 60);
    text_char(t, 'Z');
}

void report_set_time(report *r, report_fact fact, uint64_t seconds)
{
    text t = text_in(r->memory);
    if (seconds == 0)
        return;
    report_text_time(&t, seconds);
    report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

/* ---- The version ---- */

typedef enum version_order { ORDER_UNKNOWN = 0, ORDER_VERSION_FIRST, ORDER_BUILD_FIRST } version_order;

/* Before .ips, devices wrote text with the build first. Text made from an .ips, and text of Macs, has the
 * version first. Reporters inside apps (KSCrash, PLCrashReporter) use either order on any system, but write
 * no role. */
static version_order report_order_of(const report *r)
{
    static const struct {
        const char *name;
        uint64_t first; /* the first release that writes .ips */
    } systems[] = {{"iPhone OS ", 15},  {"iOS ", 15},    {"iPadOS ", 15}, {"tvOS ", 15},
                   {"Apple TVOS ", 15}, {"watchOS ", 8}, {"Watch OS ", 8}};
    machsym_str os = r->facts[FACT_OS];
    uint64_t release = 0;
    if (str_starts(os, "macOS") || str_starts(os, "Mac OS"))
        return ORDER_VERSION_FIRST;
    for (size_t i = 0; i < sizeof systems / sizeof *systems && r->facts[FACT_ROLE].len > 0; i++) {
        if (str_starts(os, systems[i].name) && str_number_after(os, systems[i].name, &release))
            return release < systems[i].first ? ORDER_BUILD_FIRST : ORDER_VERSION_FIRST;
    }
    return ORDER_UNKNOWN;
}

/* "7 (1.2)": a build is often a plain number, a version seldom is. */
static bool report_looks_build_first(machsym_str first, machsym_str second)
{
    for (size_t i = 0; i < first.len; i++) {
        if (first.ptr[i] < '0' || first.ptr[i] > '9')
            return false;
    }
    return first.len > 0 && str_find(second, ".") < second.len;
}

/* All other kinds have one fixed order. */
static bool report_is_text_of_a_crash(const report *r)
{
    return r->kind == REPORT_TEXT || r->kind == REPORT_UNKNOWN;
}

/* Takes the version from the metadata before the text of iOS 10 to 14, or before an .ips without
 * bundleInfo. */
static bool report_version_from_metadata(report *r)
{
    if (r->meta_doc == REPORT_NONE || (!report_is_text_of_a_crash(r) && r->facts[FACT_VERSION].len > 0))
        return false;
    const json *doc = &r->docs[r->meta_doc];
    machsym_str version = report_json_str(r, doc, json_get(doc, 0, "app_version"));
    if (version.len == 0)
        return false;
    r->facts[FACT_VERSION].len = 0;
    report_set_pair(r, FACT_VERSION, version, report_json_str(r, doc, json_get(doc, 0, "build_version")));
    return true;
}

/* Returns nothing for "???", which stands for what a bundle lacks. */
static machsym_str report_known_part(machsym_str s)
{
    s.len = str_is(s, "???") ? 0 : s.len;
    return s;
}

void report_settle_version(report *r)
{
    if (report_version_from_metadata(r) || !report_is_text_of_a_crash(r))
        return;
    machsym_str whole = r->facts[FACT_VERSION];
    size_t open = str_find(whole, " (");
    bool is_pair = open + 2 < whole.len && whole.ptr[whole.len - 1] == ')';
    machsym_str first = report_known_part(str_make(whole.ptr, is_pair ? open : whole.len));
    machsym_str second = {NULL, 0};
    if (is_pair)
        second = report_known_part(str_make(whole.ptr + open + 2, whole.len - open - 3));
    version_order order = report_order_of(r);
    if (first.len == 0 || second.len == 0) {
        r->facts[FACT_VERSION] = first.len > 0 ? first : second;
        return;
    }
    if (order == ORDER_VERSION_FIRST || (order == ORDER_UNKNOWN && !report_looks_build_first(first, second)))
        return;
    r->facts[FACT_VERSION].len = 0;
    report_set_pair(r, FACT_VERSION, second, first);
}

/* ---- Exceptions and signals by number ---- */

/* mach/exception_types.h, sys/signal.h */
static const char *const exception_names[] = {
    NULL,           "EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_ARITHMETIC",   "EXC_EMULATION",
    "EXC_SOFTWARE", "EXC_BREAKPOINT", "EXC_SYSCALL",         "EXC_MACH_SYSCALL", "EXC_RPC_ALERT",
    "EXC_CRASH",    "EXC_RESOURCE",   "EXC_GUARD",           "EXC_CORPSE_NOTIFY"};
static const char *const signal_names[] = {NULL,      "SIGHUP",  "SIGINT",  "SIGQUIT", "SIGILL", "SIGTRAP",
                                           "SIGABRT", "SIGEMT",  "SIGFPE",  "SIGKILL", "SIGBUS", "SIGSEGV",
                                           "SIGSYS",  "SIGPIPE", "SIGALRM", "SIGTERM"};

static void report_set_numbered(report *r, report_fact fact, const char *name, const char *what,
                                uint64_t number)
{
    text t = text_in(r->memory);
    if (number == 0)
        return;
    if (name != NULL) {
        report_set_fact(r, fact, str_c(name));
        return;
    }
    text_c(&t, what);
    text_dec(&t, number);
    report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

const char *report_exception_name(uint64_t number)
{
    return number < sizeof exception_names / sizeof *exception_names ? exception_names[number] : NULL;
}

void report_set_exception(report *r, uint64_t number)
{
    report_set_numbered(r, FACT_EXCEPTION, report_exception_name(number), "exception ", number);
}

const char *report_signal_name(uint64_t number)
{
    return number < sizeof signal_names / sizeof *signal_names ? signal_names[number] : NULL;
}

void report_set_signal(report *r, uint64_t number)
{
    report_set_numbered(r, FACT_SIGNAL, report_signal_name(number), "signal ", number);
}
