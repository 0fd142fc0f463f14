/* ==== >> cmd/mcp ====
 * Job: the command that answers agents: the worker over the Model Context Protocol.
 * Offers: the command.
 * Never: looks anything up: requests of the worker do.
 *
 * machsym mcp: JSON-RPC 2.0, a message a line, as the protocol's versions from 2024-11-05 on have it over
 * standard input and output: modelcontextprotocol.io/specification. */
#include "machsym.h"
#include "../../report/base/json.h"
#include "../../report/base/json_put.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "commands.h"
#include "crash/crash.h"
#include "worker/answer.h"
#include "worker/do.h"
#include "worker/state.h"
#include "worker/worker.h"
#include "../symbols/objects.h"

#include <string.h>

/* Errors of JSON-RPC 2.0. */
enum {
    MCP_PARSE_ERROR = 32700,
    MCP_INVALID_REQUEST = 32600,
    MCP_NO_METHOD = 32601,
    MCP_INVALID_PARAMS = 32602
};

/* Bytes that are shown of an unknown name. */
enum { MCP_SHOWN = 64 };

/* The versions that are spoken, the latest first. They differ in what is not used here, but for batches,
 * which 2025-06-18 took out: they are answered all the same. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

/* One message while it is answered. */
typedef struct mcp_message {
    worker *w;
    const json *doc;
    uint32_t at;    /* the message in doc */
    machsym_str id; /* in JSON; empty: it has none */
    text *out;
} mcp_message;

/* ---- Tools ---- */

/* A tool is a kind of request of the worker. */
typedef struct mcp_tool {
    const char *name;
    const char *title;
    const char *description;
    const char *kind; /* what it asks the worker for */
    bool takes_report;
    const char *properties; /* of its arguments, beside the report's; members of JSON */
    const char *needed;     /* of these those that must be there */
    const char *answer;     /* the member of the answer that is always there, and its type */
} mcp_tool;

#define PROPERTY(name, type, about) "\"" name "\":{\"type\":\"" type "\",\"description\":\"" about "\"}"
#define ANY_OFFSET                  "{\"type\":[\"string\",\"integer\"]}"

static const mcp_tool tools[] = {
    {"explain_crash", "Explain a crash report",
     "What a crash report of an Apple platform says: what happened, where (functions, files and lines from "
     "the symbols at hand), whose code it is, its signature, which symbols are missing and what to do. Takes "
     ".ips, .crash, sample, hang and spindump, MetricKit, KSCrash, PLCrashReporter, Sentry, Bugsnag and "
     "Crashlytics events, panics, and pasted stacks.",
     "crash", true,
     "\"want\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"brief\",\"summary\",\"text\","
     "\"json\",\"signature\",\"same\"]},\"default\":[\"brief\"],\"description\":\""
     "brief: at most 1,500 bytes; summary: in words; text: the whole report as Apple's text, with names and "
     "lines; json: "
     "everything; same: the report as it came, with names put in\"}",
     "[]", "\"reports\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}"},
    {"symbolicate", "Name addresses of an image",
     "Functions, files and lines, inlined calls too, of addresses in one image, which is told by its UUID.",
     "frames", false,
     PROPERTY(
         "uuid", "string",
         "of the image, as reports list it: 32 hexadecimal digits, with or without dashes") ","
                                                                                            "\"offsets\":{"
                                                                                            "\"type\":"
                                                                                            "\"array\","
                                                                                            "\"items\""
                                                                                            ":" ANY_OFFSET
                                                                                            ",\"description\""
                                                                                            ":\"offsets from "
                                                                                            "where the image "
                                                                                            "was loaded, or "
                                                                                            "with load "
                                                                                            "addresses at "
                                                                                            "run time; "
                                                                                            "texts 0x..., or "
                                                                                            "numbers\"},"
                                                                                            "\"load\":{"
                                                                                            "\"type\":["
                                                                                            "\"string\","
                                                                                            "\"integer\"],"
                                                                                            "\"description\":"
                                                                                            "\"where "
                                                                                            "the image was "
                                                                                            "loaded: then "
                                                                                            "offsets are "
                                                                                            "addresses at "
                                                                                            "run "
                                                                                            "time\"}"
                                                                                            "," PROPERTY(
                                                                                                "arch",
                                                                                                "string",
                                                                                                "of several "
                                                                                                "slices the "
                                                                                                "one: arm64, "
                                                                                                "arm64e, "
                                                                                                "x86_64") "," PROPERTY("return_addresses",
                                                                                                                       "boolean",
                                                                                                                       "true for all frames of a stack but its first: looks one byte before"),
     "[\"uuid\",\"offsets\"]", "\"frames\":{\"type\":\"array\",\"items\":{\"type\":\"array\"}}"},
    {"missing_symbols", "List missing symbols",
     "Which images of a report have no dSYM here, with their UUIDs, most wanted first, and why: no file, a "
     "file of another build, a damaged one.",
     "missing", true, "", "[]", "\"missing\":{\"type\":\"object\"}"},
    {"search_symbols", "Search functions by name",
     "Where the functions of an image begin whose names have a text in them: offset, name, file and line. "
     "The "
     "image is told by its UUID, or by its name where there is one file of it.",
     "search", false,
     PROPERTY("uuid", "string", "of the image") "," PROPERTY(
         "image", "string",
         "name of the image, in place of a UUID") "," PROPERTY("name", "string",
                                                               "a piece of the name; letters are the same in "
                                                               "both cases") "," PROPERTY("arch", "string",
                                                                                          "of several slices "
                                                                                          "the one") ",\"limi"
                                                                                                     "t\":{"
                                                                                                     "\"type"
                                                                                                     "\":"
                                                                                                     "\"integ"
                                                                                                     "er\","
                                                                                                     "\"minim"
                                                                                                     "um\":1,"
                                                                                                     "\"maxim"
                                                                                                     "um\":"
                                                                                                     "10000,"
                                                                                                     "\"defau"
                                                                                                     "lt\":"
                                                                                                     "50,"
                                                                                                     "\"descr"
                                                                                                     "iption"
                                                                                                     "\":"
                                                                                                     "\"how "
                                                                                                     "many "
                                                                                                     "are "
                                                                                                     "listed"
                                                                                                     "\"}",
     "[\"name\"]",
     "\"found\":{\"type\":\"integer\"},\"functions\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}"},
};

enum { TOOLS = sizeof tools / sizeof tools[0] };

static const char report_properties[] =
    PROPERTY("report", "string", "the whole report as a text") "," PROPERTY(
        "base64", "string",
        "the bytes of a report that is no UTF-8, such as PLCrashReporter's, in its place");

static const char path_property[] =
    "," PROPERTY("path", "string", "a file on this machine that holds the report, in its place");

/* ---- Messages ---- */

static void mcp_begin(const mcp_message *m)
{
    text_c(m->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (m->id.len > 0)
        text_str(m->out, m->id);
    else
        text_c(m->out, "null");
}

static void mcp_put_error(const mcp_message *m, unsigned code, const char *what, machsym_str word)
{
    text t = {0};
    text_c(&t, what);
    text_add(&t, word.ptr, word.len < MCP_SHOWN ? word.len : MCP_SHOWN);
    mcp_begin(m);
    text_c(m->out, ",\"error\":{\"code\":-");
    text_dec(m->out, code);
    text_c(m->out, ",\"message\":");
    text_json(m->out, (machsym_str){t.v, t.len});
    text_c(m->out, "}}");
    text_free(&t);
}

static void mcp_refuse(const mcp_message *m, unsigned code, const char *what)
{
    mcp_put_error(m, code, what, (machsym_str){NULL, 0});
}

static uint32_t mcp_param(const mcp_message *m, const char *key)
{
    return json_get(m->doc, json_get(m->doc, m->at, "params"), key);
}

/* ---- Methods ---- */

static void mcp_initialize(const mcp_message *m)
{
    uint32_t wanted = mcp_param(m, "protocolVersion");
    const char *version = versions[0];
    if (!json_is(m->doc, wanted, JSON_STRING)) {
        mcp_refuse(m, MCP_INVALID_PARAMS, "initialize wants protocolVersion, a text");
        return;
    }
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        version = json_equals(m->doc, wanted, versions[i]) ? versions[i] : version;
    mcp_begin(m);
    text_c(m->out, ",\"result\":{\"protocolVersion\":\"");
    text_c(m->out, version);
    text_c(m->out, "\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"machsym\",\"title\":"
                   "\"machsym: crash reports of Apple platforms\",\"version\":");
    text_json(m->out, str_c(MACHSYM_VERSION));
    text_c(m->out, "},\"instructions\":");
    text_json(m->out,
              str_c("Begin with explain_crash: its brief says what happened, where, and which symbols are "
                    "missing. Ask for text or json only when that is not enough. Names and lines come "
                    "from the dSYMs and symbol stores that this server was started with; where none has "
                    "the UUID of an image, nothing is guessed."));
    text_c(m->out, "}}");
}

static void mcp_ping(const mcp_message *m)
{
    mcp_begin(m);
    text_c(m->out, ",\"result\":{}}");
}

static void mcp_put_tool(text *out, const mcp_tool *tool, bool takes_paths)
{
    text_c(out, "{\"name\":");
    text_json(out, str_c(tool->name));
    json_put_str(out, "title", str_c(tool->title));
    json_put_str(out, "description", str_c(tool->description));
    text_c(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
    text_c(out, tool->takes_report ? report_properties : "");
    text_c(out, tool->takes_report && takes_paths ? path_property : "");
    text_c(out, tool->takes_report && tool->properties[0] != 0 ? "," : "");
    text_c(out, tool->properties);
    text_c(out, "},\"required\":");
    text_c(out, tool->needed);
    text_c(out, ",\"additionalProperties\":false},\"outputSchema\":{\"type\":\"object\",\"properties\":{");
    text_c(out, tool->answer);
    text_c(out, "}},\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,"
                "\"openWorldHint\":false}}");
}

static void mcp_list_tools(const mcp_message *m)
{
    if (mcp_param(m, "cursor") != JSON_NONE) {
        mcp_refuse(m, MCP_INVALID_PARAMS, "no cursor was given: all tools are in one page");
        return;
    }
    mcp_begin(m);
    text_c(m->out, ",\"result\":{\"tools\":[");
    for (size_t i = 0; i < TOOLS; i++) {
        text_c(m->out, i > 0 ? "," : "");
        mcp_put_tool(m->out, &tools[i], m->w->options->paths);
    }
    text_c(m->out, "]}}");
}

/* An answer is told twice: clients of versions before 2025-06-18 know texts only. */
static void mcp_put_answer(const mcp_message *m, const text *answer)
{
    mcp_begin(m);
    text_c(m->out, ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
    text_json(m->out, (machsym_str){answer->v, answer->len});
    text_c(m->out, "}],\"structuredContent\":");
    text_add(m->out, answer->v, answer->len);
    text_c(m->out, ",\"isError\":false}}");
}

/* What a tool refuses is for the model to read, and no error of the protocol. */
static void mcp_put_refusal(const mcp_message *m, const answering *a)
{
    text t = {0};
    text_c(&t, a->kind);
    text_c(&t, ": ");
    text_add(&t, a->why.v, a->why.len);
    mcp_begin(m);
    text_c(m->out, ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
    text_json(m->out, (machsym_str){t.v, t.len});
    text_c(m->out, "}],\"isError\":true}}");
    text_free(&t);
}

/* Asks the worker. arguments: an object, as a document of its own. */
static void mcp_run_tool(const mcp_message *m, const mcp_tool *tool, const json *arguments)
{
    text answer = {0};
    answering a;
    memset(&a, 0, sizeof a);
    a.w = m->w;
    a.symbols = worker_hold(m->w);
    a.options = m->w->options;
    a.doc = arguments;
    a.out = &answer;
    a.is_tool = true;
    json_begin(&answer, "worker");
    if (reply_as(&a, str_c(tool->kind))) {
        text_char(&answer, '}');
        mcp_put_answer(m, &answer);
    } else {
        mcp_put_refusal(m, &a);
    }
    worker_release(m->w, a.symbols);
    text_free(&a.why);
    text_free(&answer);
}

static void mcp_call_tool(const mcp_message *m)
{
    uint32_t name = mcp_param(m, "name");
    uint32_t given = mcp_param(m, "arguments");
    const mcp_tool *tool = NULL;
    json arguments = {0};
    json_error err;
    for (size_t i = 0; i < TOOLS && json_is(m->doc, name, JSON_STRING); i++)
        tool = json_equals(m->doc, name, tools[i].name) ? &tools[i] : tool;
    if (tool == NULL) {
        mcp_put_error(m, MCP_INVALID_PARAMS, "no such tool: ", json_raw(m->doc, name));
    } else if (given != JSON_NONE && !json_is(m->doc, given, JSON_OBJECT)) {
        mcp_refuse(m, MCP_INVALID_PARAMS, "arguments are an object");
    } else if (given == JSON_NONE ? json_parse(NULL, &arguments, "{}", 2, 0, &err)
                                  : json_parse(NULL, &arguments, m->doc->input, m->doc->v[given].end,
                                               m->doc->v[given].at, &err)) {
        mcp_run_tool(m, tool, &arguments);
    }
    json_free(&arguments);
}

/* ---- Lines ---- */

static void mcp_answer_method(const mcp_message *m, machsym_str method)
{
    static const struct {
        const char *name;
        void (*answer)(const mcp_message *m);
    } methods[] = {{"initialize", mcp_initialize},
                   {"ping", mcp_ping},
                   {"tools/list", mcp_list_tools},
                   {"tools/call", mcp_call_tool}};
    uint32_t params = json_get(m->doc, m->at, "params");
    if (params != JSON_NONE && !json_is(m->doc, params, JSON_OBJECT)) {
        mcp_refuse(m, MCP_INVALID_PARAMS, "params are an object");
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (str_is(method, methods[i].name)) {
            methods[i].answer(m);
            return;
        }
    }
    mcp_put_error(m, MCP_NO_METHOD, "no such method: ", method);
}

/* Adds the id of a message as JSON. Returns false when it has none that may be one. */
static bool mcp_take_id(const json *doc, uint32_t id, text *out)
{
    text plain = {0};
    if (json_is(doc, id, JSON_NUMBER)) {
        text_str(out, json_raw(doc, id));
    } else if (json_is(doc, id, JSON_STRING)) {
        json_unescape(&plain, json_raw(doc, id));
        text_json(out, str_make(plain.v, plain.len));
    }
    text_free(&plain);
    return out->len > 0;
}

/* Why a value is no message; NULL: it is one. */
static const char *mcp_why_no_message(const json *doc, uint32_t at, bool has_id)
{
    uint32_t method = json_get(doc, at, "method");
    bool is_answer = json_get(doc, at, "result") != JSON_NONE || json_get(doc, at, "error") != JSON_NONE;
    if (!json_is(doc, at, JSON_OBJECT))
        return "a message is an object";
    uint32_t version = json_get(doc, at, "jsonrpc");
    if (!json_is(doc, version, JSON_STRING) || !json_equals(doc, version, "2.0"))
        return "jsonrpc is not \"2.0\"";
    if (method == JSON_NONE ? !is_answer : !json_is(doc, method, JSON_STRING))
        return "method is no text";
    if (json_get(doc, at, "id") != JSON_NONE && !has_id)
        return "id is neither a text nor a number";
    return NULL;
}

/* Answers a message. Notifications get nothing, nor do answers: no requests are made here. */
static void mcp_answer_message(worker *w, const json *doc, uint32_t at, text *out)
{
    text id = {0};
    uint32_t method = json_get(doc, at, "method");
    bool has_id = mcp_take_id(doc, json_get(doc, at, "id"), &id);
    mcp_message m = {w, doc, at, {id.v, id.len}, out};
    const char *wrong = mcp_why_no_message(doc, at, has_id);
    if (wrong != NULL)
        mcp_refuse(&m, MCP_INVALID_REQUEST, wrong);
    else if (has_id && method != JSON_NONE)
        mcp_answer_method(&m, json_raw(doc, method));
    text_free(&id);
}

static void mcp_answer_batch(worker *w, const json *doc, text *out)
{
    uint32_t at = JSON_NONE;
    size_t from = out->len;
    while (json_next(doc, 0, &at)) {
        size_t before = out->len;
        text_char(out, before == from ? '[' : ',');
        mcp_answer_message(w, doc, at, out);
        out->len = out->len == before + 1 ? before : out->len;
    }
    text_c(out, out->len > from ? "]" : "");
}

/* Errors are answers, which the client reads: the exit status does not report them. */
static bool mcp_answer_line(worker *w, machsym_str line, machsym_str bytes, uint64_t number, text *out)
{
    (void)bytes; /* none: has_bytes is false */
    json doc = {0};
    json_error err = {"", 0};
    mcp_message m = {w, &doc, 0, {NULL, 0}, out};
    (void)number;
    bool ok = json_parse(NULL, &doc, line.ptr, line.len, 0, &err) &&
              reply_is_blank(str_make(line.ptr + doc.v[0].end, line.len - doc.v[0].end));
    if (!ok)
        mcp_put_error(&m, MCP_PARSE_ERROR, "a line is one message of JSON: ", str_c(err.what));
    else if (!json_is(&doc, 0, JSON_ARRAY))
        mcp_answer_message(w, &doc, 0, out);
    else if (doc.v[0].next == 1)
        mcp_refuse(&m, MCP_INVALID_REQUEST, "the batch is empty");
    else
        mcp_answer_batch(w, &doc, out);
    text_c(out, out->len > 0 ? "\n" : "");
    json_free(&doc);
    return true;
}

static bool mcp_refuse_long(const worker *w, uint64_t number, text *out)
{
    mcp_message m = {NULL, NULL, 0, {NULL, 0}, out};
    text why = {0};
    (void)number;
    text_dec(&why, w->options->max_request >> 20);
    text_c(&why, " MB; --max-request=MEGABYTES allows more");
    mcp_put_error(&m, MCP_INVALID_REQUEST, "the line has more than ", str_make(why.v, why.len));
    text_char(out, '\n');
    text_free(&why);
    return true;
}

/* ---- The command ---- */

static int mcp_run(int argc, char **argv)
{
    static const worker_protocol protocol = {mcp_answer_line, mcp_refuse_long, false};
    return worker_cmd_run_as(&mcp_command, &protocol, argc, argv);
}

const command mcp_command = {
    "mcp",
    "answers AI agents over the Model Context Protocol: reports, addresses, symbols",
    "[options]",
    "Serves the Model Context Protocol on standard input and output, for agents and editors that start it:\n"
    "  "
    "{\"mcpServers\":{\"machsym\":{\"command\":\"machsym\",\"args\":[\"mcp\",\"--paths\",\"-d\",\"SYMBOLS\"]}"
    "}}\n"
    "Its tools are explain_crash, symbolicate, missing_symbols and search_symbols; docs/mcp.md has them.\n"
    "Symbols are those that -d names.\n",
    {{crash_lookup_table, offsetof(worker_options, lookups)},
     {object_option_table, offsetof(worker_options, lookups.objects)},
     {worker_cmd_line_table, 0}},
    "exit status: 0 standard input ended, 1 it could not be read, or a report or file of symbols is "
    "damaged,\n"
    "2 usage\n",
    mcp_run,
    NULL,
};
