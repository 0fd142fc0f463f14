/* Messages; see say.h. */
#include "say.h"
#include "../../report/base/memory.h"
#include "machine.h"
#include "out.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local text *hearer; /* who hears what this thread says; NULL: standard error */

text *say_to(text *by)
{
    text *before = hearer;
    hearer = by;
    return before;
}

/* The line that tells how far work is. */
static struct {
    double since; /* of the first call; 0: none yet */
    double drawn;
    bool is_shown;
} far;

void say_progress(const char *what, size_t done, size_t total)
{
    double now = machine_seconds();
    if (isatty(STDERR_FILENO) != 1)
        return;
    far.since = far.since > 0 ? far.since : now;
    if (now - far.since < 1 || now - far.drawn < 0.2)
        return;
    fprintf(stderr, "\r%s: %zu of %zu\033[K", what, done, total);
    far.drawn = now;
    far.is_shown = true;
}

void say_progress_end(void)
{
    if (!far.is_shown)
        return;
    fputs("\r\033[K", stderr);
    far.is_shown = false; /* other threads read it, and none of them shows a line */
}

static void say_it(const char *name, const char *format, va_list args)
{
    text line = {0};
    text_c(&line, hearer == NULL ? name : "");
    out_format_to(&line, format, args);
    text_end_line(&line, 0);
    if (hearer != NULL) {
        text_add(hearer, line.v, line.len);
        text_free(&line);
        return;
    }
    say_progress_end();
    out_flush();
    fwrite(line.v, 1, line.len, stderr);
    text_free(&line);
}

void say_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_it("machsym: ", format, args);
    va_end(args);
}

void say_plain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_it("", format, args);
    va_end(args);
}

void mem_is_out(size_t wanted)
{
    fprintf(stderr, "machsym: no memory left (%zu bytes wanted)\n", wanted);
    exit(TOOL_ERROR);
}

void say_and_die(const char *what)
{
    say_to(NULL); /* what was kept for an answer is dropped */
    say_message("%s", what);
    exit(TOOL_ERROR);
}

static const char *say_advice(const machsym_error *err)
{
    bool is_of_archive = err->where != NULL && strcmp(err->where, "zip member") == 0;
    switch (err->code) {
    case MACHSYM_ERR_DAMAGED:
        return is_of_archive && strstr(err->what, "; ") == NULL ? "; copy the archive again" : "";
    case MACHSYM_ERR_FORMAT:
        if (strstr(err->what, "symbol map") != NULL)
            return "; name a .symmap; machsym map build makes one";
        if (strstr(err->what, "holds no report") != NULL)
            return "; name a crash report, or a folder or archive of some";
        return "; name a Mach-O file, a .dSYM or a .symmap";
    case MACHSYM_ERR_ARCH: return "; `machsym info FILE` lists what it holds";
    case MACHSYM_ERR_UUID: return "; `machsym info FILE` lists the UUIDs it holds";
    case MACHSYM_ERR_AMBIGUOUS: return "; choose with -arch NAME or --uuid UUID";
    case MACHSYM_ERR_IO: return strstr(err->what, "FIFO") != NULL ? "; copy what it gives to a file" : "";
    case MACHSYM_ERR_PAIR: return "; --pair is for a dSYM and the binary of the same UUID";
    case MACHSYM_ERR_ARGUMENT:
        if (strstr(err->what, "no images by name") != NULL)
            return "; leave --entry out, or name a kernel collection or a shared cache";
        return strstr(err->what, "no image of this name") != NULL ? "; `machsym info FILE` lists its images"
                                                                  : "";
    default: return "";
    }
}

static atomic_bool met_fault; /* of the system, or memory was out */

void status_note_fault(void)
{
    met_fault = true;
}

bool status_has_fault(void)
{
    return met_fault;
}

void say_error(const char *path, const machsym_error *err)
{
    if (err->code == MACHSYM_ERR_MEMORY || (err->code == MACHSYM_ERR_IO && posix_is_fault(err->os_errno)))
        status_note_fault();
    char where[128] = "";
    if (err->where != NULL && err->where[0] != 0)
        snprintf(where, sizeof where, " (%s, offset %llu)", err->where, (unsigned long long)err->offset);
    if (err->os_errno != 0)
        say_message("%s: %s: %s", path, err->what, strerror(err->os_errno));
    else
        say_message("%s: %s%s%s", path, err->what, where, say_advice(err));
}

bool say_slices(const char *path, size_t count, const machsym_error *err)
{
    bool ok = count > 0 && err->code == MACHSYM_OK;
    if (!ok)
        say_error(path, err);
    else if (err->where[0] != 0)
        say_message("%s: a slice is left out: %s (%s, offset %llu)", path, err->what, err->where,
                    (unsigned long long)err->offset);
    return ok;
}

/* ---- What makes the exit status 1 ---- */

/* Files whose damage was reported, each once. */
static struct {
    pthread_mutex_t lock;
    char **v;
    size_t count;
    size_t cap;
} said = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

bool say_is_new(const char *path)
{
    bool is_new = true;
    pthread_mutex_lock(&said.lock);
    for (size_t i = 0; i < said.count && is_new; i++)
        is_new = strcmp(said.v[i], path) != 0;
    if (is_new) {
        said.v = mem_room(said.v, said.count, &said.cap, sizeof *said.v);
        said.v[said.count] = mem_alloc(strlen(path) + 1);
        strcpy(said.v[said.count++], path);
    }
    pthread_mutex_unlock(&said.lock);
    return is_new;
}

static atomic_bool lacked_memory;

void status_note_memory(void)
{
    lacked_memory = true;
}

bool status_had_memory(const char *output)
{
    if (output == NULL || strcmp(output, "-") == 0 || !lacked_memory)
        return true;
    say_message("%s: not written: memory ran out", output);
    return false;
}

bool status_lacked_memory(void)
{
    return lacked_memory;
}

static atomic_bool found_damage;

void status_note_damage(void)
{
    found_damage = true;
}

void say_fault(const char *path, const machsym_error *err)
{
    status_note_damage();
    if (say_is_new(path))
        say_error(path, err);
}

int status_end(int status)
{
    if (lacked_memory)
        say_message("memory ran out: some answers lack names or lines");
    if (status == TOOL_OK && (lacked_memory || found_damage))
        return TOOL_ERROR;
    return status;
}

bool say_is_output_lost(void)
{
    static bool is_said = false;
    int failure = out_failure();
    if (failure == 0 || failure == EPIPE)
        return false;
    if (!is_said)
        say_message("standard output: %s", strerror(failure));
    is_said = true;
    return true;
}

int say_finish_output(int status)
{
    out_flush();
    return say_is_output_lost() ? TOOL_ERROR : status;
}
