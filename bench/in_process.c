/* Answers reports in this process, by machsym_report.h: bench/reports.sh runs it beside machsym crash, which does the same work.
 *   in_process THREADS DSYM FOLDER REPORT...
 * Each report is read, answered, and written to FOLDER in its own format. */
#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_THREADS = 64, PATH_ROOM = 4096 };

typedef struct queue {
    pthread_mutex_t lock;
    machsym_image *image;
    const char *folder;
    char **paths;
    size_t count;
    size_t next;
    size_t failed;
} queue;

/* Returns the number of the next report; count: there is no other. */
static size_t take(queue *q, size_t failed)
{
    pthread_mutex_lock(&q->lock);
    size_t at = q->next < q->count ? q->next++ : q->count;
    q->failed += failed;
    pthread_mutex_unlock(&q->lock);
    return at;
}

static char *read_all(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL || fseek(in, 0, SEEK_END) != 0)
        return NULL;
    *len = (size_t)ftell(in);
    rewind(in);
    char *bytes = (char *)malloc(*len + 1);
    if (bytes != NULL)
        *len = fread(bytes, 1, *len, in);
    fclose(in);
    return bytes;
}

static bool answer(const queue *q, machsym_report_files *files, const char *path)
{
    const char *slash = strrchr(path, '/');
    char to[PATH_ROOM];
    machsym_reports_desc desc;
    machsym_reports *reports = NULL;
    size_t len = 0;
    char *bytes = read_all(path, &len);
    snprintf(to, sizeof to, "%s/%s", q->folder, slash != NULL ? slash + 1 : path);
    FILE *out = fopen(to, "wb");
    memset(&desc, 0, sizeof desc);
    desc.input.ptr = bytes;
    desc.input.len = len;
    desc.symbols = machsym_report_of_files(files);
    desc.flags = MACHSYM_REPORT_SAME;
    bool is_done = bytes != NULL && out != NULL &&
                   machsym_reports_open(&desc, &reports, NULL) == MACHSYM_OK &&
                   machsym_reports_count(reports, NULL) > 0;
    if (is_done) {
        machsym_str same = machsym_reports_same(reports);
        is_done = fwrite(same.ptr, 1, same.len, out) == same.len;
    }
    machsym_reports_close(reports);
    if (out != NULL)
        is_done &= fclose(out) == 0;
    free(bytes);
    return is_done;
}

static void *work(void *user)
{
    queue *q = (queue *)user;
    machsym_session_desc how;
    machsym_report_file file = {q->image, NULL};
    machsym_report_files files = {&file, 1, NULL};
    size_t failed = 0;
    memset(&how, 0, sizeof how);
    how.image = q->image;
    how.lines = MACHSYM_LINES_PEOPLE;
    if (machsym_session_open(&how, &file.session, NULL) != MACHSYM_OK)
        return NULL;
    for (size_t at; (at = take(q, failed)) < q->count;)
        failed = !answer(q, &files, q->paths[at]);
    machsym_session_close(file.session);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    machsym_open_desc open;
    int count = argc > 4 ? atoi(argv[1]) : 0;
    queue q;
    memset(&q, 0, sizeof q);
    memset(&open, 0, sizeof open);
    if (count < 1 || count > MAX_THREADS)
        return 2;
    pthread_mutex_init(&q.lock, NULL);
    q.folder = argv[3];
    q.paths = argv + 4;
    q.count = (size_t)(argc - 4);
    open.path = argv[2];
    if (machsym_image_open(&open, &q.image, NULL) != MACHSYM_OK)
        return 2;
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &q) != 0)
            return 2;
    work(&q);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    machsym_image_close(q.image);
    return q.failed > 0 || q.next < q.count;
}
