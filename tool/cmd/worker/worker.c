/* machsym worker: a program that others drive, line by line. */
#include "worker.h"
#include "../../base/out.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "../commands.h"
#include "../crash/crash.h"
#include "answer.h"
#include "run.h"
#include "../../symbols/chunks.h"
#include "../../symbols/objects.h"

#include <stdlib.h>
#include <string.h>

/* Real reports have some megabytes, spindumps some tens. Parsed, a line of numbers only takes 20 times its
 * length. */
enum { REQUEST_MEGABYTES = 64 };

/* Decoded units of a large app have about a hundred megabytes; maps need next to nothing. */
enum { CACHE_MEGABYTES = 1024 };

/* A store that does not answer for so long is down, and the request had better be sent again later. */
enum { NEED_SECONDS = 30, MAX_NEED_SECONDS = 86400 };

/* Megabytes, to bytes. */
static bool worker_cmd_take_megabytes(void *field, const char *value)
{
    char *end;
    unsigned long megabytes = strtoul(value, &end, 10);
    bool ok = value[0] >= '0' && value[0] <= '9' && *end == 0 && megabytes > 0 && megabytes <= 1 << 20;
    if (ok)
        *(uint64_t *)field = (uint64_t)megabytes << 20;
    else
        say_message("%s is no number of megabytes from 1 to %d", value, 1 << 20);
    return ok;
}

static bool worker_cmd_take_seconds(void *field, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);
    bool ok =
        value[0] >= '0' && value[0] <= '9' && *end == 0 && seconds > 0 && seconds <= (double)MAX_NEED_SECONDS;
    if (ok)
        *(double *)field = seconds;
    else
        say_message("%s is no number of seconds up to %d", value, (int)MAX_NEED_SECONDS);
    return ok;
}

/* A request has to fit the JSON reader, which counts in 32 bits. */
static bool worker_cmd_take_max_request(void *field, const char *value)
{
    enum { MOST = 1024 };
    if (!worker_cmd_take_megabytes(field, value))
        return false;
    if (*(uint64_t *)field <= (uint64_t)MOST << 20)
        return true;
    say_message("--max-request is at most %d megabytes", (int)MOST);
    return false;
}

static int worker_cmd_answer_all(const worker_options *o, const worker_protocol *protocol)
{
    worker w;
    int status = TOOL_ERROR;
    chunk_host host = {loop_get, &w};
    memset(&w, 0, sizeof w);
    w.options = o;
    w.protocol = protocol;
    pthread_mutex_init(&w.lock, NULL);
    if (o->host)
        w.chunks = chunk_cache_open(&host, o->cache - o->cache / 2);
    w.symbols = worker_open_symbols(&w);
    if (w.symbols != NULL) {
        status = loop_run(&w);
        worker_release(&w, w.symbols);
    }
    chunk_cache_close(w.chunks);
    pthread_mutex_destroy(&w.lock);
    return w.has_failed ? TOOL_ERROR : status;
}

int worker_cmd_run_as(const command *c, const worker_protocol *protocol, int argc, char **argv)
{
    static worker_options o;
    int status = TOOL_ERROR;
    out_whole();
    crash_options_begin(&o.lookups);
    o.max_request = (uint64_t)REQUEST_MEGABYTES << 20;
    o.need_seconds = NEED_SECONDS;
    o.cache = (uint64_t)CACHE_MEGABYTES << 20;
    int count = options_parse(c, &o, argc, argv);
    if (count != 0) {
        status = count < 0 ? options_status(count) : options_wrong(c, "requests are lines of standard input");
    } else if (crash_lookups_wrong(&o.lookups) != NULL) {
        status = options_wrong(c, crash_lookups_wrong(&o.lookups));
    } else if (crash_lookups_begin(&o.lookups)) {
        status = worker_cmd_answer_all(&o, protocol);
    }
    crash_lookups_end(&o.lookups);
    return status;
}

static int worker_cmd_run(int argc, char **argv)
{
    static const worker_protocol protocol = {reply_to_line, reply_refuse_long, true};
    return worker_cmd_run_as(&worker_command, &protocol, argc, argv);
}

const option worker_cmd_line_table[] = {
    {NULL, NULL, "", 0, NULL},
    {"j", "N", "requests at a time", offsetof(worker_options, lookups.jobs), take_jobs},
    {"unordered", NULL, "each answer as soon as it is there, not in the order of the requests",
     offsetof(worker_options, unordered), NULL},
    {"max-request", "MEGABYTES", "the longest line that is taken (64); a longer one is refused",
     offsetof(worker_options, max_request), worker_cmd_take_max_request},
    {"cache", "MEGABYTES",
     "what may be kept decoded of images that no request uses at the moment (1024);\nwhat was used the "
     "longest ago goes first",
     offsetof(worker_options, cache), worker_cmd_take_megabytes},
    {"paths", NULL, "requests may name files to read: for hosts that are trusted as the user is",
     offsetof(worker_options, paths), NULL},
    {0},
};

static const option table[] = {
    {"host", NULL, "ask the host that drives this for chunks of maps that no file has",
     offsetof(worker_options, host), NULL},
    {"need-seconds", "SECONDS", "how long it may take to answer (30)", offsetof(worker_options, need_seconds),
     worker_cmd_take_seconds},
    {"build-store", "DIR", "a store that build requests may write maps to",
     offsetof(worker_options, build_store), NULL},
    {0},
};

const command worker_command = {
    "worker",
    "answers requests as JSON lines for a program that drives it: reports, frames, names",
    "[options]",
    "Answers requests from standard input, a JSON object a line, on standard output, a line each, in their\n"
    "order. An error is an answer, too; it ends when standard input does. docs/server.md has all members:\n"
    "  "
    "{\"id\":1,\"do\":\"crash\",\"report\":\"...\",\"want\":[\"json\",\"text\",\"same\",\"summary\","
    "\"signature\",\"brief\"]}\n"
    "  {\"bytes\":18204,\"do\":\"crash\"}          and the report's bytes after the line\n"
    "  {\"id\":2,\"do\":\"frames\",\"uuid\":\"...\",\"offsets\":[\"0xaec\",2768]}\n"
    "  {\"id\":3,\"do\":\"demangle\",\"names\":[\"_Z3foov\"]}\n"
    "  {\"id\":4,\"do\":\"build\",\"base64\":\"...\",\"as\":\"map|chunks|store\"}\n"
    "  "
    "{\"id\":5,\"do\":\"symbolicate\",\"jobs\":[{\"memoryMap\":[[\"...\",\"...\"]],\"stacks\":[[[0,2796]]]}]}"
    "\n"
    "  {\"id\":6,\"do\":\"reload\"}\n"
    "  {\"id\":7,\"do\":\"stats\"}\n"
    "  {\"id\":8,\"do\":\"missing\",\"report\":\"...\"}\n"
    "  {\"id\":9,\"do\":\"search\",\"uuid\":\"...\",\"name\":\"frobnicate\"}\n"
    "Symbols are those that -d names.\n",
    {{crash_lookup_table, offsetof(worker_options, lookups)},
     {object_option_table, offsetof(worker_options, lookups.objects)},
     {worker_cmd_line_table, 0},
     {table, 0}},
    "exit status: 0 done, 1 an answer was an error, or a report or file of symbols is damaged, 2 usage\n",
    worker_cmd_run,
    NULL,
};
