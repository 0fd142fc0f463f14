/* Pages: reports as data, between the two halves of the page. */
#include "html.h"
#include "../base/json_put.h"
#include "../tell/signature.h"
#include "write.h"

static void html_put_pieces(const char *const *pieces, text *out)
{
    for (; *pieces != NULL; pieces++)
        text_c(out, *pieces);
}

/* JSON in a script element: a < occurs only in strings, and as \u003c it cannot end the element. */
static void html_put_data(const text *data, text *out)
{
    size_t from = 0;
    for (size_t i = 0; i < data->len; i++) {
        if (data->v[i] != '<')
            continue;
        text_add(out, data->v + from, i - from);
        text_c(out, "\\u003c");
        from = i + 1;
    }
    text_add(out, data->v + from, data->len - from);
}

void html_begin(text *out)
{
    html_put_pieces(html_before, out);
}

void html_add(const report *r, const write_options *how, const resolve_counts *counts, const char *label,
              const machinery *list, text *out)
{
    signature s;
    write_options one_line = *how;
    text as_text = {0};
    text data = {0};
    one_line.one_line = true;
    write_text(r, how, &as_text);
    text_c(&data, "{\"name\":");
    text_json(&data, str_c(label));
    json_put_str(&data, "text", str_make(as_text.v, as_text.len));
    signature_of(r, list, &s);
    json_put_str(&data, "signature", str_make(s.words.v, s.words.len));
    json_put_key(&data, "json");
    write_json(r, &one_line, counts, &data);
    data.len -= data.v[data.len - 1] == '\n';
    text_c(&data, "}");
    text_c(out, "<script type=\"application/json\" class=\"report\">");
    html_put_data(&data, out);
    text_c(out, "</script>\n");
    text_free(&s.words);
    text_free(&as_text);
    text_free(&data);
}

void html_end(text *out)
{
    html_put_pieces(html_after, out);
}
