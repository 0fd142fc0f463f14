/* Writes one C++ unit of the benchmark program: `generate SEED RECORDS KIT > unit.cpp`.
 * The same arguments always give the same bytes. The units hold what makes real dSYMs large: record types of
 * random fields, containers of them, variants, lambdas, and pipelines that inline many calls deep. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RECORDS = 64, MAX_FIELDS = 9 };

typedef struct record {     /* One generated struct. */
    int number[MAX_FIELDS]; /* 1: the field at this place is of an arithmetic type */
    int fields;
    const char *noun;
} record;

static uint64_t state;

static int pick(int count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)count);
}

static const char *const nouns[] = {"Account", "Badge",  "Cache",   "Device",  "Event",  "Feed",
                                    "Gesture", "Header", "Invoice", "Journal", "Key",    "Layer",
                                    "Message", "Node",   "Order",   "Packet",  "Query",  "Route",
                                    "Shader",  "Token",  "Update",  "Vertex",  "Window", "Zone"};
static const char *const words[] = {"alpha", "bound", "cost",  "depth", "extent", "flags", "gain",  "height",
                                    "index", "joint", "kind",  "limit", "mass",   "next",  "owner", "phase",
                                    "quota", "rank",  "scale", "time",  "unit",   "value", "width", "yield"};

static const char *number_type(void)
{
    static const char *const types[] = {"long", "int", "double"};
    return types[pick(3)];
}

static void print_type(const record *known, int count, int depth)
{
    if (depth > 2 || pick(6) == 0) {
        printf("%s", pick(3) ? number_type() : "text");
        return;
    }
    int shape = pick(count ? 7 : 6);
    static const char *const open[] = {"array<",        "maybe<",       "table<text, ",
                                       "bundle<text, ", "bundle<int, ", "either<text, long, array<"};
    static const char *const close[] = {">", ">", ">", ">", ">", ">>"};
    if (shape == 6) {
        int which = pick(count);
        printf("%s%d", known[which].noun, which);
        return;
    }
    printf("%s", open[shape]);
    print_type(known, count, depth + 1);
    printf("%s", close[shape]);
}

static const char *field_name(const record *r, int i)
{
    return words[((int)r->noun[0] * 7 + i * 5) % 24];
}

static void print_struct(record *v, int at)
{
    record *r = &v[at];
    r->noun = nouns[pick(24)];
    r->fields = 4 + pick(MAX_FIELDS - 4);
    printf("struct %s%d {\n    text name;\n", r->noun, at);
    for (int i = 0; i < r->fields; i++) {
        r->number[i] = i == 0 || pick(3) == 0;
        printf("    ");
        if (r->number[i])
            printf("%s", number_type());
        else
            print_type(v, at, 0);
        printf(" %s%s;\n", field_name(r, i), r->number[i] ? " = 0" : "");
    }
    for (int i = 0; i < r->fields; i++)
        if (r->number[i])
            printf("    long get_%s() const;\n    void set_%s(long to);\n", field_name(r, i),
                   field_name(r, i));
        else
            printf("    usize room_%s() const;\n", field_name(r, i));
    printf("\n    void write(writer &out) const;\n    long weigh(long scale) const;\n};\n\n");
    printf("void %s%d::write(writer &out) const\n{\n    out.put(name);\n", r->noun, at);
    for (int i = 0; i < r->fields; i++)
        printf("    out.put(%s);\n", field_name(r, i));
    printf("}\n\nlong %s%d::weigh(long scale) const\n{\n    long sum = (long)name.size();\n", r->noun, at);
    for (int i = 0; i < r->fields; i++) {
        if (r->number[i])
            printf("    sum += (long)%s * scale;\n", field_name(r, i));
        else
            printf("    sum ^= [&] {\n        writer out;\n        out.put(%s);\n        return "
                   "(long)out.bytes().size();\n    }();\n",
                   field_name(r, i));
    }
    printf("    return sum;\n}\n\n");
}

/* Small functions, one or two inlined calls each. */
static void print_accessors(const record *r, int at)
{
    for (int i = 0; i < r->fields; i++) {
        const char *name = field_name(r, i);
        if (!r->number[i]) {
            printf("usize %s%d::room_%s() const\n{\n    return sizeof(%s) + name.size();\n}\n", r->noun, at,
                   name, name);
            continue;
        }
        printf("long %s%d::get_%s() const\n{\n    return (long)%s + (long)name.size();\n}\n", r->noun, at,
               name, name);
        printf("void %s%d::set_%s(long to)\n{\n    if (name == text())\n        base::fail();\n    %s = "
               "to;\n}\n",
               r->noun, at, name, name);
        for (int n = 0; n < 10; n++)
            printf("bool %s_%s%d_%d(const %s%d &a, const %s%d &b)\n{\n"
                   "    return a.name.view().len + %d < b.name.view().len || hash_of(a.%s) < "
                   "hash_of(b.%s);\n}\n",
                   name, words[pick(24)], at, n, r->noun, at, r->noun, at, n, name, name);
    }
    printf("\n");
}

static int pick_number(const record *r)
{
    int i;
    do
        i = pick(r->fields);
    while (!r->number[i]);
    return i;
}

/* One link of a pipeline over an array `all` of records. */
static void print_link(const record *r, int at, int n)
{
    const char *field = field_name(r, pick_number(r));
    switch (pick(7)) {
    case 0:
        printf("    all = all.where([&](const %s%d &one) { return (long)one.%s > limit + %d; });\n", r->noun,
               at, field, n);
        break;
    case 1:
        printf("    all.sort([](const %s%d &a, const %s%d &b) { return a.%s < b.%s; });\n", r->noun, at,
               r->noun, at, field, field);
        break;
    case 2:
        printf("    sum += all.map([&](const %s%d &one) { return (long)one.%s * limit; })\n"
               "               .fold(%dl, [](long a, long b) { return a ^ b; });\n",
               r->noun, at, field, n);
        break;
    case 3:
        printf("    table<long, text> by%d;\n"
               "    all.each([&](const %s%d &one) { by%d[(long)one.%s].add(one.name).add_number(limit); });\n"
               "    sum += by%d.find(limit).then([](const text &found) { return (long)found.size(); "
               "}).or_else(%d);\n",
               n, r->noun, at, n, field, n, n);
        break;
    case 4:
        printf("    tree<text, array<long>> in%d;\n"
               "    all.each([&](const %s%d &one) { in%d[one.name].push((long)one.%s); });\n"
               "    in%d.each([&](const text &key, const array<long> &found) { sum += (long)(key.size() * "
               "found.size()); });\n",
               n, r->noun, at, n, field, n);
        break;
    case 5:
        printf("    usize at%d = all.lower_bound([&](const %s%d &one) { return (long)one.%s < limit; });\n"
               "    if (at%d < all.size()) {\n        all.insert(at%d, all[all.size() - 1]);\n        "
               "all.erase(at%d / 2);\n    }\n",
               n, r->noun, at, field, n, n, n);
        break;
    default:
        printf("    task<long(const %s%d &)> score%d([limit](const %s%d &one) { return one.weigh(limit) + "
               "(long)one.%s; });\n"
               "    all.each([&](const %s%d &one) { sum += score%d(one); });\n",
               r->noun, at, n, r->noun, at, field, r->noun, at, n);
    }
}

static void print_pipeline(const record *r, int at, int n)
{
    printf("long %s_%s%d_%d(array<%s%d> all, long limit)\n{\n    long sum = %d;\n", words[pick(24)],
           words[pick(24)], at, n, r->noun, at, n);
    for (int i = 0, links = 1 + pick(3); i < links; i++)
        print_link(r, at, i + 1);
    printf("    return sum;\n}\n\n");
}

static void print_class(const record *r, int at)
{
    printf(
        "class %s%dView : public view {\n    shared<%s%d> held;\n    array<shared<%s%d>> past;\n\npublic:\n"
        "    explicit %s%dView(shared<%s%d> from) : held(from) {}\n"
        "    void draw(writer &out) override\n    {\n        past.push(held);\n        held->write(out);\n   "
        " }\n"
        "    long measure(long scale) const override\n    {\n"
        "        return past.fold(held->weigh(scale), [scale](long sum, const shared<%s%d> &one) {\n"
        "            return sum + one->weigh(scale);\n        });\n    }\n};\n\n"
        "owned<view> make_%s%d_view(const text &name)\n{\n    %s%d one;\n    one.name = name;\n"
        "    return owned<view>(new %s%dView(shared<%s%d>(one)));\n}\n\n",
        r->noun, at, r->noun, at, r->noun, at, r->noun, at, r->noun, at, r->noun, at, r->noun, at, r->noun,
        at, r->noun, at, r->noun, at);
}

int main(int argc, char **argv)
{
    static record v[MAX_RECORDS];
    if (argc != 4 || atoi(argv[2]) > MAX_RECORDS) {
        fprintf(stderr, "usage: generate SEED RECORDS KIT\n");
        return 1;
    }
    state = (uint64_t)atoi(argv[1]) * 2654435761u;
    printf("#define KIT %s\n#include \"kit.hpp\"\n\nnamespace %s {\n\n", argv[3], argv[3]);
    printf("struct view {\n    virtual ~view() = default;\n    virtual void draw(writer &out) = 0;\n"
           "    virtual long measure(long scale) const = 0;\n};\n\n");
    for (int at = 0, count = atoi(argv[2]); at < count; at++) {
        print_struct(v, at);
        print_accessors(&v[at], at);
        print_class(&v[at], at);
        for (int n = 0, many = 2 + pick(4); n < many; n++)
            print_pipeline(&v[at], at, n);
    }
    printf("} // namespace %s\n", argv[3]);
    return 0;
}
