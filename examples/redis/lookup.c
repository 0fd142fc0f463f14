/* Symbolicates addresses through the chunks of a map in Redis, and tells how long that takes.
 *
 *   lookup PORT FILE.symmap CHUNK_SIZE EXPIRE LOAD_ADDRESS < ADDRESSES
 *
 * Prints what atos -i prints. A reader of a real service has no map at hand: it knows image name, UUID and load address
 * from the crash report. Here the map gives them, and answers too, to compare answers and times.
 * The client speaks Redis' protocol by itself: requests are arrays of bulk strings, the reply is a bulk string. */
#define MACHSYM_IMPLEMENTATION
#include "../../machsym.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1,
    MAX_TEXT = 1 << 20,
    MAX_VALUE = 16 << 20,
    MAX_TIMES = 1 << 20
};

static void die(const char *what)
{
    fprintf(stderr, "lookup: %s\n", what);
    exit(1);
}

/* ---- Redis ---- */

typedef struct redis {
    int fd;
    char in[1 << 16];
    size_t at;
    size_t len;
} redis;

static void redis_open(redis *r, const char *port)
{
    struct sockaddr_in to;
    int yes = 1;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)atoi(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->at = r->len = 0;
    r->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (r->fd < 0 || connect(r->fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("no Redis at this port");
    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static char redis_byte(redis *r)
{
    if (r->at == r->len) {
        ssize_t got = read(r->fd, r->in, sizeof r->in);
        if (got <= 0)
            die("Redis closed the connection");
        r->at = 0;
        r->len = (size_t)got;
    }
    return r->in[r->at++];
}

/* GETEX key EX seconds: the value, and its life begins anew. Returns its length; -1 when there is no such key. */
static long redis_get(redis *r, const char *key, const char *expire, char *value)
{
    char request[1024];
    int len =
        snprintf(request, sizeof request, "*4\r\n$5\r\nGETEX\r\n$%zu\r\n%s\r\n$2\r\nEX\r\n$%zu\r\n%s\r\n",
                 strlen(key), key, strlen(expire), expire);
    if (len < 0 || (size_t)len >= sizeof request || write(r->fd, request, (size_t)len) != len)
        die("the request cannot be sent");
    char line[64];
    size_t count = 0;
    for (char c = redis_byte(r); c != '\n' && count + 1 < sizeof line; c = redis_byte(r))
        line[count++] = c;
    line[count] = 0;
    if (line[0] != '$')
        die(line);
    long size = strtol(line + 1, NULL, 10);
    if (size > MAX_VALUE)
        die("the value is too long");
    for (long i = 0; i < size; i++)
        value[i] = redis_byte(r);
    if (size >= 0) {
        redis_byte(r);
        redis_byte(r);
    }
    return size;
}

/* ---- Lookups ---- */

typedef struct answer {
    machsym_map_frame found[MAX_FRAMES];
    machsym_frame frames[MAX_FRAMES];
    size_t count;
    char text[MAX_TEXT];
} answer;

static void look_up(const machsym_map *map, uint64_t addr, answer *out)
{
    out->count = machsym_map_frames_at_addr(map, addr, out->found, MAX_FRAMES);
    if (out->count > MAX_FRAMES)
        out->count = MAX_FRAMES;
    machsym_map_names(map, out->found, out->count, out->frames, out->text, MAX_TEXT);
}

/* What identifies an image in the store. */
typedef struct image_key {
    const char *expire;
    uint64_t chunk_size;
    char image[512]; /* NAME:UUID */
} image_key;

/* Asks both tables, debug info first. Views of the answer are views of its own text and of the value. */
static void look_up_in_store(redis *r, const image_key *key, uint64_t offset, uint64_t addr, char *value,
                             answer *out)
{
    static const char *const tables[] = {"dwarf", "symbol_table"};
    out->count = 0;
    for (size_t i = 0; i < 2 && out->count == 0; i++) {
        char name[600];
        machsym_map *chunk;
        machsym_error err;
        snprintf(name, sizeof name, "%s:%s:%llu", tables[i], key->image,
                 (unsigned long long)(offset / key->chunk_size));
        long size = redis_get(r, name, key->expire, value);
        if (size < 0)
            continue;
        machsym_map_desc desc = {.bytes = {value, (size_t)size}};
        if (machsym_map_open(&desc, &chunk, &err) != MACHSYM_OK)
            die(err.what);
        look_up(chunk, addr, out);
        machsym_map_close(chunk);
    }
}

static bool same_text(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_answer(const answer *a, const answer *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        const machsym_frame *x = &a->frames[i];
        const machsym_frame *y = &b->frames[i];
        same = same_text(x->linkage_name, y->linkage_name) && same_text(x->name, y->name) &&
               same_text(x->file.name, y->file.name) && x->line == y->line &&
               x->function_start == y->function_start;
    }
    return same;
}

static void print_answer(const answer *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const machsym_frame *frame = &a->frames[i];
        machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
        char shown[4096];
        char path[4096];
        machsym_demangle(name, MACHSYM_DEMANGLE_SIMPLIFIED, shown, sizeof shown);
        machsym_path_join(&frame->file, path, sizeof path);
        const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
        printf("%s (%s:%u)\n", shown, base, frame->line);
    }
    putchar('\n');
}

/* ---- Times ---- */

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_times(const char *what, double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    fprintf(stderr, "%-14s %zu lookups, p50 %.1f microseconds, p99 %.1f microseconds\n", what, count,
            times[count / 2], times[count - 1 - count / 100]);
}

int main(int argc, char **argv)
{
    static redis r;
    static answer stored;
    static answer direct;
    static double times[2][MAX_TIMES];
    char *value = malloc(MAX_VALUE);
    machsym_map *map;
    machsym_map_info info;
    machsym_error err;
    image_key key;
    char line[64];
    size_t count = 0;
    size_t found = 0;
    size_t differ = 0;
    if (argc != 6 || value == NULL)
        die("usage: lookup PORT FILE.symmap CHUNK_SIZE EXPIRE LOAD_ADDRESS < ADDRESSES");
    machsym_map_desc desc = {.path = argv[2]};
    if (machsym_map_open(&desc, &map, &err) != MACHSYM_OK)
        die(err.what);
    machsym_map_get_info(map, &info);
    key.expire = argv[4];
    key.chunk_size = strtoull(argv[3], NULL, 10);
    int len = snprintf(key.image, sizeof key.image, "%.*s:", (int)info.name.len, info.name.ptr);
    for (size_t i = 0; i < 16; i++)
        len += snprintf(key.image + len, sizeof key.image - (size_t)len, "%s%02X",
                        i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info.uuid.v[i]);
    redis_open(&r, argv[1]);
    uint64_t load_addr = strtoull(argv[5], NULL, 16);
    while (count < MAX_TIMES && fgets(line, sizeof line, stdin) != NULL) {
        /* of a return address the call is meant, which ends one byte before */
        uint64_t addr = machsym_map_addr_of_pc(map, load_addr, strtoull(line, NULL, 0)) - 1;
        double before = microseconds();
        look_up_in_store(&r, &key, addr - info.text_addr, addr, value, &stored);
        double between = microseconds();
        look_up(map, addr, &direct);
        times[0][count] = between - before;
        times[1][count++] = microseconds() - between;
        /* paths of the first answer are views of a closed chunk's bytes, which are still in value */
        found += stored.count > 0;
        differ += !same_answer(&stored, &direct);
        if (count <= 100)
            print_answer(&stored);
    }
    if (count == 0)
        die("no addresses");
    print_times("through Redis:", times[0], count);
    print_times("from the file:", times[1], count);
    fprintf(stderr, "%zu of %zu addresses found, %zu answers differ\n", found, count, differ);
    machsym_map_close(map);
    close(r.fd);
    free(value);
    return differ != 0 || found == 0;
}
