/* ==== >> cmd/owners ====
 * Job: the command that tells whose code addresses are.
 * Offers: the command.
 * Never: has rules of its own.
 *
 * machsym owners: whose code the addresses of a program are. */
#include "machsym.h"
#include "../../report/base/digits.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "commands.h"
#include "../files/open.h"
#include "../symbols/owners.h"

#include <stdlib.h>
#include <string.h>

/* What the options say. */
typedef struct request {
    image_options from;
    owners *rules;
    const char *owner;
    char **addresses;
    size_t address_count;
    const char *from_name; /* the first value of a --between whose second is to come */
    uint64_t base;
    bool has_load;
    bool has_slide;
    bool ranges;
    bool json;
    bool has_rule;
} request;

/* Code without a gap that has one owner. */
typedef struct run {
    uint64_t lo;
    uint64_t hi;
    machsym_str owner;
    uint64_t count; /* of functions */
} run;

typedef struct runs {
    run *v;
    size_t count;
    size_t cap;
} runs;

static void owners_cmd_add_run(runs *to, const run *one)
{
    to->v = mem_room(to->v, to->count, &to->cap, sizeof *to->v);
    to->v[to->count++] = *one;
}

static void owners_cmd_print_owner(text *out, machsym_str owner)
{
    if (owner.len == 0)
        text_c(out, "(no owner)");
    else
        text_shown(out, owner);
}

/* ---- Addresses ---- */

static void owners_cmd_print_address(const request *r, const machsym_image *image, machsym_session *session,
                                     owners_image *owned, const char *written, text *out)
{
    static machsym_frame frames[MACHSYM_MAX_INLINE_DEPTH + 1];
    machsym_image_info info;
    uint64_t given;
    machsym_str owner = {0};
    machsym_image_get_info(image, &info);
    if (parse_hex(written, strlen(written), &given)) {
        uint64_t load = r->has_load ? r->base : r->has_slide ? info.text_addr + r->base : info.text_addr;
        uint64_t addr = machsym_image_addr_of_pc(image, load, given);
        size_t count = machsym_session_frames_at_addr(session, addr, frames, MACHSYM_MAX_INLINE_DEPTH + 1);
        owner = owners_find(owned, addr, count > 0 ? &frames[0] : NULL);
    }
    if (r->json) {
        json_begin(out, "owners");
        json_put_key(out, "address");
        text_json(out, str_c(written));
        json_put_str(out, "owner", owner);
        text_c(out, "}\n");
        return;
    }
    text_shown(out, str_c(written));
    text_char(out, ' ');
    owners_cmd_print_owner(out, owner);
    text_char(out, '\n');
}

/* ---- All of the code ---- */

static void owners_cmd_collect(machsym_session *session, owners_image *owned, runs *to)
{
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_frame frame;
    while (machsym_session_next_symbol(session, &at, &symbol)) {
        run one = {symbol.lo, symbol.hi, {0}, 1};
        memset(&frame, 0, sizeof frame);
        size_t count = machsym_session_frames_at_addr(session, symbol.lo, &frame, 1);
        one.owner = owners_find(owned, symbol.lo, count > 0 ? &frame : NULL);
        run *last = to->count > 0 ? &to->v[to->count - 1] : NULL;
        if (last != NULL && last->hi == one.lo && str_equal(last->owner, one.owner)) {
            last->hi = one.hi;
            last->count++;
        } else {
            owners_cmd_add_run(to, &one);
        }
    }
}

static int owners_cmd_by_owner(const void *a, const void *b)
{
    const run *x = a;
    const run *y = b;
    size_t len = x->owner.len < y->owner.len ? x->owner.len : y->owner.len;
    int order = len == 0 ? 0 : memcmp(x->owner.ptr, y->owner.ptr, len);
    if (order != 0 || x->owner.len != y->owner.len)
        return order != 0 ? order : x->owner.len < y->owner.len ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int owners_cmd_by_size(const void *a, const void *b)
{
    const run *x = a;
    const run *y = b;
    if (x->hi - x->lo != y->hi - y->lo)
        return x->hi - x->lo > y->hi - y->lo ? -1 : 1;
    return owners_cmd_by_owner(a, b);
}

/* Makes each owner one entry of [0, bytes). */
static void owners_cmd_sum(runs *all)
{
    size_t kept = 0;
    if (all->count == 0)
        return;
    qsort(all->v, all->count, sizeof *all->v, owners_cmd_by_owner);
    for (size_t i = 0; i < all->count; i++) {
        run one = {0, all->v[i].hi - all->v[i].lo, all->v[i].owner, all->v[i].count};
        if (kept > 0 && str_equal(all->v[kept - 1].owner, one.owner)) {
            all->v[kept - 1].hi += one.hi;
            all->v[kept - 1].count += one.count;
        } else {
            all->v[kept++] = one;
        }
    }
    all->count = kept;
    qsort(all->v, all->count, sizeof *all->v, owners_cmd_by_size);
}

static void owners_cmd_print_run(text *out, const run *one, bool ranges)
{
    if (ranges) {
        text_c(out, "0x");
        text_hex(out, one->lo, 8);
        text_c(out, " 0x");
        text_hex(out, one->hi, 8);
        text_char(out, ' ');
    }
    text_dec(out, one->hi - one->lo);
    text_char(out, ' ');
    text_dec(out, one->count);
    text_char(out, ' ');
    owners_cmd_print_owner(out, one->owner);
    text_char(out, '\n');
}

static void owners_cmd_print_run_json(text *out, const run *one, bool ranges)
{
    json_begin(out, "owners");
    if (ranges) {
        json_put_hex(out, "lo", one->lo);
        json_put_hex(out, "hi", one->hi);
    }
    json_put_number(out, "bytes", one->hi - one->lo);
    json_put_number(out, "functions", one->count);
    json_put_str(out, "owner", one->owner);
    text_c(out, "}\n");
}

static void owners_cmd_answer(const request *r, const machsym_image *image, machsym_session *session,
                              owners_image *owned)
{
    text out = {0};
    runs all = {0};
    for (size_t i = 0; i < r->address_count; i++)
        owners_cmd_print_address(r, image, session, owned, r->addresses[i], &out);
    if (r->address_count == 0)
        owners_cmd_collect(session, owned, &all);
    if (!r->ranges)
        owners_cmd_sum(&all);
    for (size_t i = 0; i < all.count; i++)
        (r->json ? owners_cmd_print_run_json : owners_cmd_print_run)(&out, &all.v[i], r->ranges);
    out_text(&out);
    text_free(&out);
    free(all.v);
}

/* ---- Options ---- */

/* Adds "WORD A[ .. B][ = OWNER]". */
static bool owners_cmd_add_rule(request *r, const char *word, const char *a, const char *b, const char *owner)
{
    text line = {0};
    text_c(&line, word);
    text_char(&line, ' ');
    text_c(&line, a);
    text_c(&line, b != NULL ? " .. " : "");
    text_c(&line, b != NULL ? b : "");
    text_c(&line, owner != NULL ? " = " : "");
    text_c(&line, owner != NULL ? owner : "");
    text_char(&line, 0);
    bool ok = owners_add(r->rules, line.v);
    text_free(&line);
    r->has_rule |= strcmp(word, "at") != 0 && strcmp(word, "slide") != 0;
    return ok;
}

static bool owners_cmd_set_base(request *r, bool is_load, const char *written)
{
    r->has_load = is_load;
    r->has_slide = !is_load;
    if (parse_hex(written, strlen(written), &r->base))
        return owners_cmd_add_rule(r, is_load ? "at" : "slide", written, NULL, NULL);
    say_message("%s is no hexadecimal address", written);
    return false;
}

static bool owners_cmd_take_load(void *to, const char *value)
{
    return owners_cmd_set_base(to, true, value);
}

static bool owners_cmd_take_slide(void *to, const char *value)
{
    return owners_cmd_set_base(to, false, value);
}

static bool owners_cmd_take_linkmap(void *to, const char *value)
{
    return owners_cmd_add_rule(to, "linkmap", value, NULL, NULL);
}

static bool owners_cmd_take_objects(void *to, const char *value)
{
    (void)value;
    return owners_cmd_add_rule(to, "objects", "", NULL, NULL);
}

static bool owners_cmd_take_prefix(void *to, const char *value)
{
    request *r = to;
    return owners_cmd_add_rule(r, "prefix", value, NULL, r->owner != NULL ? r->owner : value);
}

/* Called for A, then for B. */
static bool owners_cmd_take_between(void *to, const char *value)
{
    request *r = to;
    const char *from = r->from_name;
    r->from_name = from == NULL ? value : NULL;
    return from == NULL || owners_cmd_add_rule(r, "between", from, value, r->owner != NULL ? r->owner : from);
}

static bool owners_cmd_take_rules(void *to, const char *value)
{
    request *r = to;
    r->has_rule = true;
    return owners_take_rules(&r->rules, value);
}

static bool owners_cmd_has_debug_map(machsym_session *session)
{
    machsym_cursor at = {0, 0};
    machsym_object object;
    return machsym_session_next_object(session, &at, &object);
}

static int owners_cmd_run_request(request *r)
{
    machsym_image *image = image_options_open(&r->from);
    if (image == NULL)
        return TOOL_ERROR;
    machsym_session *session = open_session(image, MACHSYM_LINES_ATOS, 0);
    owners_image *owned = NULL;
    int status = TOOL_ERROR;
    if (!r->has_rule && !owners_cmd_has_debug_map(session))
        say_message("%s has no debug map (N_OSO); name --linkmap, --between, --prefix or --rules",
                    r->from.path);
    else if (r->has_rule || owners_add(r->rules, "objects"))
        owned = owners_open(r->rules, image, session);
    if (owned != NULL) {
        owners_cmd_answer(r, image, session, owned);
        status = TOOL_OK;
    }
    owners_close(owned);
    open_session_close(session);
    machsym_image_close(image);
    return status;
}

static int owners_cmd_run(int argc, char **argv)
{
    request r = {0};
    int status;
    r.rules = owners_new();
    int count = options_parse(&owners_command, &r, argc, argv);
    if (count < 0) {
        status = options_status(count);
    } else if (count == 0) {
        status = options_wrong(&owners_command, "no file is named");
    } else if (!owners_are_read(r.rules)) {
        status = TOOL_ERROR;
    } else {
        r.from.path = image_options_path(&r.from, argv[1]);
        r.addresses = argv + 2;
        r.address_count = (size_t)count - 1;
        status = owners_cmd_run_request(&r);
    }
    owners_free(r.rules);
    return status;
}

static const option table[] = {
    {"linkmap", "FILE", "the linker's map (-map of ld64 or lld): libsdk.a(member.o)", 0,
     owners_cmd_take_linkmap},
    {"objects", NULL, "the debug map in the file: the same names", 0, owners_cmd_take_objects},
    {"between", "A B", "from function A to function B, both included; each a symbol or an address\nwith 0x",
     0, owners_cmd_take_between},
    {"prefix", "TEXT",
     "Objective-C classes and functions whose name begins with TEXT; with a slash\nin it: source paths", 0,
     owners_cmd_take_prefix},
    {"rules", "FILE", "rules from a file, see below", 0, owners_cmd_take_rules},
    {"name", "OWNER",
     "what to call the owner of the --between or --prefix that follow, in place of\nTEXT or A",
     offsetof(request, owner), NULL},
    {"l", "ADDRESS", "addresses are runtime ones and the image was loaded here (hex); before\n--between", 0,
     owners_cmd_take_load},
    {"s", "SLIDE", "addresses are runtime ones and the image slid by this much (hex); before\n--between", 0,
     owners_cmd_take_slide},
    {"ranges", NULL, "list ranges of code with their owners, in place of sums", offsetof(request, ranges),
     NULL},
    {"json", NULL, "one JSON object a line", offsetof(request, json), NULL},
    {0},
};

const command owners_command = {
    "owners",
    "whose code it is: libraries linked into a program",
    "[options] FILE [address ...]",
    "Tells which library or object file code came from. A static library linked into a program has no image "
    "of its\n"
    "own: rules tell its code apart. Prints the owner of each address, or without addresses the bytes of "
    "code and\n"
    "the number of functions of each owner, most first. The first rule that fits wins, in the order given "
    "here;\n"
    "without any, the debug map in the file (N_OSO) is the rule.\n",
    {{table, 0}, {image_option_table, offsetof(request, from)}},
    "A file of rules has one a line; # begins a comment. Rules are tried from top to bottom:\n"
    "  linkmap FILE           objects                object TEXT = OWNER     between A .. B = OWNER\n"
    "  prefix TEXT = OWNER    at LOAD_ADDRESS        slide SLIDE             image NAME\n"
    "  all = OWNER\n"
    "`object` renames what the maps say, by a part of the path; `at` and `slide` tell what raw addresses in "
    "the\n"
    "`between` that follow count from; `image` limits the rules that follow to images of that name (* ends "
    "it);\n`all` is everything, below `image` all of that image.\n"
    "`machsym atos --owners FILE` takes the same files.\n",
    owners_cmd_run,
    NULL,
};
