/* machsym_report.h: eight threads that share images, each with sessions of its own, answer as one does. All
 * ask at once for debug info that was not asked for before, and check stacks by the code of one program. Under `make tsan` a write to what they share
 * would be reported. */
#include "test.h"

#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 2, IMAGES = 2 };

static const char *const paths[IMAGES] = {"tests/fixtures/bin/demo.app.dSYM", "tests/fixtures/bin/demo"};

static const char *const inputs[] = {
    "tests/fixtures/reports/demo.crash",           "tests/fixtures/reports/demo.ips",
    "tests/fixtures/services/breakpad.dmp",        "tests/fixtures/services/thrown.plcrash",
    "tests/fixtures/services/sentry-envelope.txt", "tests/fixtures/stacks/xctrace.xml",
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

typedef struct worker {
    pthread_t thread;
    machsym_image *const *images;
    pthread_mutex_t *begin; /* held until all are there; NULL: there is only one */
    const test_file *files;
    uint64_t sum;
    uint32_t answered;
    uint32_t checked;   /* reports whose stacks were held against code */
    uint32_t unwritten; /* the checks count without a lock: threads only note what main checks */
    bool ran;
} worker;

static void add_text(worker *w, machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        w->sum = w->sum * 31 + (uint8_t)text.ptr[i];
}

static bool take_report(void *user, machsym_report *report)
{
    worker *w = (worker *)user;
    machsym_str out;
    for (int form = 0; form <= (int)MACHSYM_REPORT_AS_SIGNATURE; form++) {
        if (machsym_report_write(report, (machsym_report_form)form, &out) == MACHSYM_OK)
            add_text(w, out);
        else
            w->unwritten++;
        if (form == (int)MACHSYM_REPORT_AS_JSON)
            w->checked += msr_str_find(out, "\"checked\":3") < out.len;
    }
    return true;
}

static void read_input(worker *w, const test_file *input, machsym_report_files *files)
{
    machsym_reports_desc desc;
    machsym_reports *reports;
    memset(&desc, 0, sizeof desc);
    desc.input.ptr = (const char *)input->ptr;
    desc.input.len = input->len;
    desc.flags = MACHSYM_REPORT_SAME | (w->answered % 2 == 0 ? 0 : MACHSYM_REPORT_CHECK_STACK);
    desc.redact = input->len % 2 == 0 ? "words" : NULL;
    desc.symbols = machsym_report_of_files(files);
    desc.user = w;
    desc.each = take_report;
    if (machsym_reports_open(&desc, &reports, NULL) != MACHSYM_OK)
        return;
    add_text(w, machsym_reports_same(reports));
    w->answered += machsym_reports_count(reports, NULL);
    machsym_reports_close(reports);
}

static void *work(void *user)
{
    worker *w = (worker *)user;
    machsym_session_desc how;
    machsym_report_file v[IMAGES];
    machsym_report_files files = {v, IMAGES, NULL};
    bool is_open = true;
    memset(&how, 0, sizeof how);
    how.lines = MACHSYM_LINES_PEOPLE;
    if (w->begin != NULL) {
        pthread_mutex_lock(w->begin);
        pthread_mutex_unlock(w->begin);
    }
    for (size_t i = 0; i < IMAGES; i++) {
        how.image = v[i].image = w->images[i];
        is_open &= machsym_session_open(&how, &v[i].session, NULL) == MACHSYM_OK;
    }
    for (size_t i = 0; i < (size_t)ROUNDS * INPUTS && is_open; i++)
        read_input(w, &w->files[i % INPUTS], &files);
    for (size_t i = 0; i < IMAGES; i++)
        machsym_session_close(v[i].session);
    w->ran = is_open;
    return NULL;
}

static void open_demo(machsym_image **images)
{
    machsym_open_desc open;
    memset(&open, 0, sizeof open);
    for (size_t i = 0; i < IMAGES; i++) {
        open.path = paths[i];
        CHECK(machsym_image_open(&open, &images[i], NULL) == MACHSYM_OK);
    }
}

static void close_demo(machsym_image **images)
{
    for (size_t i = 0; i < IMAGES; i++)
        machsym_image_close(images[i]);
}

int main(void)
{
    test_file files[INPUTS];
    worker alone;
    worker workers[THREADS];
    machsym_image *images[IMAGES];
    pthread_mutex_t begin = PTHREAD_MUTEX_INITIALIZER;
    for (size_t i = 0; i < INPUTS; i++)
        files[i] = test_read(inputs[i]);
    memset(&alone, 0, sizeof alone);
    open_demo(images);
    alone.images = images;
    alone.files = files;
    work(&alone);
    CHECK(alone.ran && alone.answered >= ROUNDS * INPUTS);
    CHECK_EQ(alone.unwritten, 0);
    CHECK(alone.checked > 0);
    close_demo(images);
    open_demo(images);
    pthread_mutex_lock(&begin);
    for (size_t i = 0; i < THREADS; i++) {
        memset(&workers[i], 0, sizeof workers[i]);
        workers[i].images = images;
        workers[i].files = files;
        workers[i].begin = &begin;
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    pthread_mutex_unlock(&begin);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].ran);
        CHECK_EQ(workers[i].unwritten, 0);
        CHECK_EQ(workers[i].sum, alone.sum);
        CHECK_EQ(workers[i].answered, alone.answered);
        CHECK_EQ(workers[i].checked, alone.checked);
    }
    close_demo(images);
    for (size_t i = 0; i < INPUTS; i++)
        free(files[i].ptr);
    return test_done();
}
