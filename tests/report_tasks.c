/* Runs the code of docs/report-header.md, which tests/report_header.sh puts ahead of this:
 *   report_tasks DSYM REPORT TASK */

static bool put_own(void *user, machsym_report *report)
{
    return put_crashed_thread(user, report);
}

static machsym_result answer_own(const char *bytes, size_t len)
{
    char name[] = "somewhere";
    machsym_reports_desc desc;
    machsym_reports *reports;
    memset(&desc, 0, sizeof desc);
    desc.input.ptr = bytes;
    desc.input.len = len;
    desc.flags = MACHSYM_REPORT_ALL;
    desc.symbols = own_symbols(name);
    desc.user = stdout;
    desc.each = put_own;
    machsym_result result = machsym_reports_open(&desc, &reports, NULL);
    machsym_reports_close(reports);
    return result;
}

static machsym_result do_task(const char *task, const char *bytes, size_t len,
                              const machsym_report_file *file)
{
    if (strcmp(task, "wanted") == 0)
        return list_wanted(bytes, len, stdout);
    if (strcmp(task, "text") == 0)
        return write_report(bytes, len, file, 1, put_text, stdout);
    if (strcmp(task, "walk") == 0)
        return write_report(bytes, len, file, 1, put_crashed_thread, stdout);
    if (strcmp(task, "registers") == 0)
        return write_report(bytes, len, file, 1, put_registers, stdout);
    if (strcmp(task, "redact") == 0)
        return put_redacted(bytes, len, "words", stdout);
    return answer_own(bytes, len);
}

int main(int argc, char **argv)
{
    static char bytes[1 << 16];
    machsym_open_desc open;
    machsym_session_desc how;
    machsym_report_file file;
    memset(&open, 0, sizeof open);
    memset(&how, 0, sizeof how);
    open.path = argv[1];
    how.lines = MACHSYM_LINES_PEOPLE;
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL;
    if (in == NULL || machsym_image_open(&open, &file.image, NULL) != MACHSYM_OK)
        return 2;
    how.image = file.image;
    if (machsym_session_open(&how, &file.session, NULL) != MACHSYM_OK)
        return 2;
    machsym_result result = do_task(argv[3], bytes, fread(bytes, 1, sizeof bytes, in), &file);
    fclose(in);
    machsym_session_close(file.session);
    machsym_image_close(file.image);
    return result == MACHSYM_OK ? 0 : 1;
}
