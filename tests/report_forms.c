/* Writes the reports of files in a form, by machsym_report.h: tests/report_header.sh compares that with machsym crash.
 *   report_forms [check] FORM FILE... -- REPORT...
 * check: as --check-stack.
 * FORM: text, apple, json, brief, summary, signature, same, redact (same, with the key "words"); FILE: dSYMs, binaries, maps, with all of their slices. */
#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"

#include <stdio.h>

enum { MAX_FILES = 256 };

static const char *const forms[] = {"text",    "apple",     "json", "brief",
                                    "summary", "signature", "same", "redact"};

typedef struct work {
    machsym_report_form form;
    bool is_same;
    const char *redact;
    uint32_t flags;
} work;

static bool write_one(void *user, machsym_report *report)
{
    const work *w = (const work *)user;
    machsym_str out;
    if (!w->is_same && machsym_report_write(report, w->form, &out) == MACHSYM_OK)
        fwrite(out.ptr, 1, out.len, stdout);
    return true;
}

static void tell_failure(void *user, uint32_t number, const char *why, uint64_t at)
{
    (void)user;
    fprintf(stderr, "%u: %s, at byte %llu\n", number, why, (unsigned long long)at);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 16;
    char *v = (char *)malloc(cap);
    *len = 0;
    if (f == NULL || v == NULL)
        exit(2);
    for (size_t n; (n = fread(v + *len, 1, cap - *len, f)) > 0;) {
        *len += n;
        if (*len == cap) {
            cap *= 2;
            v = (char *)realloc(v, cap);
            if (v == NULL)
                exit(2);
        }
    }
    fclose(f);
    return v;
}

static bool open_slice(const machsym_open_desc *open, machsym_lines lines, machsym_report_file *out)
{
    machsym_session_desc how;
    machsym_error err;
    memset(&how, 0, sizeof how);
    how.lines = lines;
    if (machsym_image_open(open, &out->image, &err) != MACHSYM_OK) {
        fprintf(stderr, "%s: %s\n", open->path, err.what);
        return false;
    }
    how.image = out->image;
    return machsym_session_open(&how, &out->session, &err) == MACHSYM_OK;
}

/* A file of the answer for each slice. */
static void open_file(const char *path, machsym_lines lines, machsym_report_files *files,
                      machsym_report_file *v)
{
    machsym_slice slices[16];
    machsym_open_desc open;
    machsym_error err;
    memset(&open, 0, sizeof open);
    open.path = path;
    size_t count = machsym_list_slices(&open, slices, 16, &err);
    for (size_t i = 0; i < count && i < 16 && files->count < MAX_FILES; i++) {
        open.uuid = slices[i].has_uuid ? &slices[i].uuid : NULL;
        files->count += open_slice(&open, lines, &v[files->count]);
    }
}

static bool write_all(const char *path, machsym_report_files *files, work *w)
{
    machsym_reports_desc desc;
    machsym_reports *reports;
    machsym_error err;
    size_t len;
    char *input = read_file(path, &len);
    memset(&desc, 0, sizeof desc);
    desc.input.ptr = input;
    desc.input.len = len;
    desc.name = path;
    desc.symbols = machsym_report_of_files(files);
    desc.user = w;
    desc.each = write_one;
    desc.fails = tell_failure;
    desc.redact = w->redact;
    if (w->is_same)
        desc.flags = MACHSYM_REPORT_SAME;
    else if (w->form == MACHSYM_REPORT_AS_APPLE)
        desc.flags = MACHSYM_REPORT_RAW_ADDRESSES | MACHSYM_REPORT_NO_FOLDED;
    desc.flags |= w->flags;
    bool ok = machsym_reports_open(&desc, &reports, &err) == MACHSYM_OK;
    if (ok) {
        machsym_str same = machsym_reports_same(reports);
        if (w->is_same && machsym_reports_count(reports, NULL) > 0)
            fwrite(same.ptr, 1, same.len, stdout);
        machsym_reports_close(reports);
    } else {
        fprintf(stderr, "%s: %s\n", path, err.what);
    }
    free(input);
    return ok;
}

int main(int argc, char **argv)
{
    static machsym_report_file v[MAX_FILES];
    machsym_report_files files = {v, 0, NULL};
    unsigned form = 0;
    int at = 2;
    bool ok = true;
    uint32_t flags = argc > 1 && strcmp(argv[1], "check") == 0 ? MACHSYM_REPORT_CHECK_STACK : 0;
    argc -= flags != 0;
    argv += flags != 0;
    if (argc < 4)
        return 2;
    while (form < 7 && strcmp(argv[1], forms[form]) != 0)
        form++;
    work w = {form < 6 ? (machsym_report_form)form : MACHSYM_REPORT_AS_TEXT, form >= 6,
              form == 7 ? "words" : NULL, flags};
    machsym_lines lines = form == MACHSYM_REPORT_AS_APPLE ? MACHSYM_LINES_ATOS : MACHSYM_LINES_PEOPLE;
    for (; at < argc && strcmp(argv[at], "--") != 0 && files.count < MAX_FILES; at++)
        open_file(argv[at], lines, &files, v);
    for (at++; at < argc; at++)
        ok &= write_all(argv[at], &files, &w);
    for (size_t i = 0; i < files.count; i++) {
        machsym_session_close(v[i].session);
        machsym_image_close(v[i].image);
    }
    return ok ? 0 : 1;
}
