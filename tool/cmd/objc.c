/* ==== >> cmd/objc ====
 * Job: the command that lists Objective-C metadata.
 * Offers: the command.
 * Never: decodes it.
 *
 * machsym objc: the Objective-C metadata of a file. */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "commands.h"
#include "../files/open.h"

static void objc_print_method(text *out, const machsym_objc *m)
{
    text_c(out, m->is_class_method ? "+[" : "-[");
    text_str(out, m->class_name);
    if (m->category.len != 0) {
        text_char(out, '(');
        text_str(out, m->category);
        text_char(out, ')');
    }
    text_char(out, ' ');
    text_str(out, m->selector);
    text_char(out, ']');
}

static void objc_print_text(text *out, const machsym_objc *item)
{
    size_t from = out->len;
    if (item->kind == MACHSYM_OBJC_METHOD) {
        text_c(out, "  0x");
        text_hex(out, item->addr, 8);
        text_char(out, ' ');
        objc_print_method(out, item);
    } else {
        text_c(out, item->kind == MACHSYM_OBJC_CLASS ? "class " : "category ");
        text_str(out, item->class_name);
        if (item->kind == MACHSYM_OBJC_CATEGORY) {
            text_char(out, '(');
            text_str(out, item->category);
            text_char(out, ')');
        }
        if (item->super_name.len != 0) {
            text_c(out, " : ");
            text_str(out, item->super_name);
        }
        text_c(out, " 0x");
        text_hex(out, item->addr, 8);
        text_c(out, item->is_swift ? " Swift" : "");
    }
    text_end_line(out, from);
}

/* An empty text stays one: a root class has the superclass "". */
static void objc_put_text(text *out, const char *key, machsym_str value)
{
    json_put_key(out, key);
    text_json(out, value);
}

static void objc_print_json_owner(text *out, const machsym_objc *item)
{
    bool is_class = item->kind == MACHSYM_OBJC_CLASS;
    json_begin(out, "objc");
    json_put_str(out, "kind", str_c(is_class ? "class" : "category"));
    objc_put_text(out, "class", item->class_name);
    objc_put_text(out, is_class ? "super" : "category", is_class ? item->super_name : item->category);
    json_put_hex(out, "address", item->addr);
    json_put_bool(out, "swift", item->is_swift);
    text_c(out, ",\"methods\":[");
}

static void objc_print_json_method(text *out, const machsym_objc *item)
{
    text name = {0};
    objc_print_method(&name, item);
    text_c(out, "{\"name\":");
    text_json(out, (machsym_str){name.v, name.len});
    objc_put_text(out, "selector", item->selector);
    json_put_bool(out, "class_method", item->is_class_method);
    json_put_hex(out, "address", item->addr);
    text_char(out, '}');
    text_free(&name);
}

static bool objc_print_all(machsym_session *session, bool json)
{
    machsym_cursor at = {0, 0};
    machsym_objc item;
    text out = {0};
    bool is_open = false;
    bool is_first = true;
    bool has_any = false;
    while (machsym_session_next_objc(session, &at, &item)) {
        has_any = true;
        bool is_method = item.kind == MACHSYM_OBJC_METHOD;
        if (!json) {
            objc_print_text(&out, &item);
        } else if (is_method) {
            text_c(&out, is_first ? "" : ",");
            objc_print_json_method(&out, &item);
            is_first = false;
        } else {
            text_c(&out, is_open ? "]}\n" : "");
            objc_print_json_owner(&out, &item);
            is_open = is_first = true;
        }
        if (out.len > 1 << 16) {
            out_text(&out);
        }
    }
    text_c(&out, is_open ? "]}\n" : "");
    out_text(&out);
    text_free(&out);
    return has_any;
}

/* Whether an image is a dSYM alone; says that it has no such metadata. */
static bool objc_lacks_binary(const machsym_image *image)
{
    enum { MH_DSYM = 10 };
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    if (info.slice.filetype != MH_DSYM || info.pair_path != NULL)
        return false;
    say_message("%s: a dSYM has no Objective-C metadata; name the binary, or pass it with --pair", info.path);
    return true;
}

typedef struct objc_options {
    image_options from;
    bool json;
} objc_options;

static int objc_run(int argc, char **argv)
{
    objc_options o = {.from = {.no_dwarf = true}};
    machsym_session *session;
    machsym_image *image;
    int status = open_for_command(&objc_command, &o.from, argc, argv, &o, &image, &session);
    if (image == NULL)
        return status;
    bool ok = objc_print_all(session, o.json) || !objc_lacks_binary(image);
    open_session_close(session);
    machsym_image_close(image);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"json", NULL, "one JSON object a line for each class or category", offsetof(objc_options, json), NULL},
    {0},
};

const command objc_command = {
    "objc",
    "Objective-C classes, categories and methods with their addresses",
    "[options] FILE",
    "Lists the classes and categories of a Mach-O file with their methods and the addresses of these. Needs "
    "no\n"
    "symbols: everything comes from the metadata that the Objective-C runtime reads. A dSYM has none; its "
    "binary\n"
    "has.\n",
    {{table, 0}, {image_option_table, offsetof(objc_options, from)}},
    NULL,
    objc_run,
    NULL,
};
