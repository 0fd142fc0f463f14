/* Puts names and lines into a crash report: the dSYMs of a folder, a report, and what Apple's text would say of it.
 *
 *     report FOLDER REPORT
 *
 * machsym_report.h is experimental. A server reads more than one report with the files that it has open; each thread has
 * sessions of its own. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"
#include <dirent.h>
#include <stdio.h>

enum { MAX_FILES = 256 };

/* Opens what lies in a folder and is no report: dSYMs, binaries and maps. Returns how many. */
static size_t open_files(const char *folder, machsym_report_file *files)
{
    char path[1024];
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *one; dir != NULL && count < MAX_FILES && (one = readdir(dir)) != NULL;) {
        machsym_open_desc file = {.path = path};
        machsym_session_desc how = {.lines = MACHSYM_LINES_PEOPLE};
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (one->d_name[0] == '.' || machsym_image_open(&file, &files[count].image, NULL) != MACHSYM_OK)
            continue;
        how.image = files[count].image;
        if (machsym_session_open(&how, &files[count].session, NULL) == MACHSYM_OK)
            count++;
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

static bool print_report(void *user, machsym_report *report)
{
    machsym_str text;
    (void)user;
    if (machsym_report_write(report, MACHSYM_REPORT_AS_TEXT, &text) == MACHSYM_OK)
        fwrite(text.ptr, 1, text.len, stdout);
    return true;
}

int main(int argc, char **argv)
{
    static machsym_report_file v[MAX_FILES];
    static char input[1 << 24];
    FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (in == NULL)
        return fprintf(stderr, "usage: report FOLDER REPORT\n"), 2;
    machsym_report_files files = {v, open_files(argv[1], v), NULL};
    machsym_reports_desc desc = {.input = {input, fread(input, 1, sizeof input, in)},
                                 .symbols = machsym_report_of_files(&files),
                                 .each = print_report};
    machsym_reports *reports;
    machsym_error err;
    if (machsym_reports_open(&desc, &reports, &err) != MACHSYM_OK)
        return fprintf(stderr, "report: %s\n", err.what), 1;
    uint32_t count = machsym_reports_count(reports, NULL);
    machsym_reports_close(reports);
    return count > 0 ? 0 : 1;
}
