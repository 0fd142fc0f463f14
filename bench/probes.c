/* The benchmark's yardsticks, each a whole process on one little-endian 64-bit Mach-O file, thin but for the
 * last:
 *
 *   probes map FILE                     maps the file and exits: what no tool can beat
 *   probes read FILE THREADS            reads every byte of .debug_info, .debug_line and .debug_str once
 *   probes walk FILE THREADS            passes over every DIE without any bounds check, and counts them
 *   probes addresses FILE COUNT SEED    prints random addresses of __TEXT,__text
 *   probes report FILE FRAMES SEED      prints a crash report: four threads of FRAMES frames in the image
 *   probes thin FILE                    writes the arm64 slice of a fat file, or the file when it is thin
 *
 * Trusts its input: these are files that bench/inputs.sh made. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_THREADS = 16, MAX_ABBREVS = 4096, MAX_OPS = 48 };

typedef struct section { /* Bytes of one section; ptr is NULL when the file has none. */
    const uint8_t *ptr;
    uint64_t addr, len;
} section;

static const uint8_t *file;
static size_t file_len;

static uint16_t u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void map_file(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) < 0) {
        perror(path);
        exit(1);
    }
    file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    file_len = (size_t)info.st_size;
}

/* loader.h: mach_header_64 is 32 bytes, segment_command_64 72, section_64 80. */
static section find_section(const char *name)
{
    section found = {NULL, 0, 0};
    if (u32(file) != 0xfeedfacf) {
        fprintf(stderr, "probes: not a thin 64-bit Mach-O file\n");
        exit(1);
    }
    const uint8_t *command = file + 32;
    for (uint32_t i = 0, count = u32(file + 16); i < count; i++, command += u32(command + 4)) {
        if (u32(command) != 0x19)
            continue;
        const uint8_t *at = command + 72;
        for (uint32_t k = 0, sections = u32(command + 64); k < sections; k++, at += 80)
            if (strncmp((const char *)at, name, 16) == 0 && !found.len) {
                found.addr = u64(at + 32);
                found.len = u64(at + 40);
                found.ptr = u32(at + 48) ? file + u32(at + 48) : NULL;
            }
    }
    return found;
}

/* ---- read ---- */

typedef struct part { /* A piece of a section for one thread. */
    const uint8_t *ptr;
    uint64_t len, sum;
} part;

static void *sum_part(void *arg)
{
    part *p = arg;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    const uint8_t *at = p->ptr, *end = p->ptr + p->len;
    for (; end - at >= 32; at += 32) {
        a += u64(at);
        b += u64(at + 8);
        c += u64(at + 16);
        d += u64(at + 24);
    }
    while (at < end)
        a += *at++;
    p->sum += a + b + c + d;
    return NULL;
}

static void run_read(int threads)
{
    static const char *const names[] = {"__debug_info", "__debug_line", "__debug_str"};
    uint64_t total = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        section s = find_section(names[i]);
        part v[MAX_THREADS] = {{0}};
        pthread_t thread[MAX_THREADS];
        for (int t = 0; t < threads; t++) {
            uint64_t lo = s.len * (uint64_t)t / (uint64_t)threads,
                     hi = s.len * (uint64_t)(t + 1) / (uint64_t)threads;
            v[t].ptr = s.ptr + lo;
            v[t].len = hi - lo;
            pthread_create(&thread[t], NULL, sum_part, &v[t]);
        }
        for (int t = 0; t < threads; t++) {
            pthread_join(thread[t], NULL);
            sum += v[t].sum;
        }
        total += s.len;
    }
    printf("bytes %llu sum %llx\n", (unsigned long long)total, (unsigned long long)sum);
}

/* ---- walk ---- */

enum op_kind { OP_END, OP_LEB, OP_STRING, OP_BLOCK1, OP_BLOCK2, OP_BLOCK4, OP_BLOCK_LEB };

typedef struct
    abbrev { /* How to pass over one kind of DIE: fixed bytes before each attribute of varying size. */
    uint16_t fixed[MAX_OPS];
    uint8_t op[MAX_OPS];
    uint8_t kind; /* index of `counts` */
} abbrev;

enum count_kind { COUNT_OTHER, COUNT_FUNCTION, COUNT_INLINED, COUNT_NULL, COUNT_KINDS };

typedef struct walker { /* What one thread counted. */
    uint64_t counts[COUNT_KINDS];
} walker;

static section info_section;
static abbrev *abbrevs;
static const uint8_t **units;
static size_t unit_count;
static atomic_size_t next_unit;

static uint64_t leb(const uint8_t **at)
{
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t b = *(*at)++;
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return v;
    }
}

/* DWARF5 7.5.6: the size of a form, or -1 - its op for a size that varies. */
static int form_size(uint64_t form)
{
    switch (form) {
    case 0x19:
    case 0x21: return 0; /* flag_present, implicit_const */
    case 0x0b:
    case 0x0c:
    case 0x11:
    case 0x25:
    case 0x29: return 1; /* data1, flag, ref1, strx1, addrx1 */
    case 0x05:
    case 0x12:
    case 0x26:
    case 0x2a: return 2; /* data2, ref2, strx2, addrx2 */
    case 0x27:
    case 0x2b: return 3; /* strx3, addrx3 */
    case 0x06:
    case 0x0e:
    case 0x10:
    case 0x13:
    case 0x17:
    case 0x1f:
    case 0x28:
    case 0x2c: return 4;
    case 0x01:
    case 0x07:
    case 0x14:
    case 0x20: return 8;  /* addr, data8, ref8, ref_sig8 */
    case 0x1e: return 16; /* data16 */
    case 0x0d:
    case 0x0f:
    case 0x15:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23: return -1 - OP_LEB;
    case 0x08: return -1 - OP_STRING;
    case 0x0a: return -1 - OP_BLOCK1;
    case 0x03: return -1 - OP_BLOCK2;
    case 0x04: return -1 - OP_BLOCK4;
    case 0x09:
    case 0x18: return -1 - OP_BLOCK_LEB;
    default:
        fprintf(stderr, "probes: form 0x%llx is not in the trial walk\n", (unsigned long long)form);
        exit(1);
    }
}

/* Only a subprogram with code counts as a function: it has a low_pc or ranges. */
static void read_abbrev(const uint8_t **at, abbrev *a)
{
    uint64_t tag = leb(at), name, form;
    int n = 0, has_code = 0;
    ++*at;
    for (;;) {
        name = leb(at);
        form = leb(at);
        if (!name && !form)
            break;
        has_code |= name == 0x11 || name == 0x55;
        if (form == 0x21)
            leb(at);
        int size = form_size(form);
        if (size >= 0) {
            a->fixed[n] = (uint16_t)(a->fixed[n] + size);
            continue;
        }
        a->op[n] = (uint8_t)(-1 - size);
        if (++n == MAX_OPS)
            exit(1);
    }
    a->kind = tag == 0x1d ? COUNT_INLINED : tag == 0x2e && has_code ? COUNT_FUNCTION : COUNT_OTHER;
}

/* dsymutil writes one table for all units. */
static void read_abbrevs(void)
{
    const uint8_t *at = find_section("__debug_abbrev").ptr;
    abbrevs = calloc(MAX_ABBREVS, sizeof *abbrevs);
    for (uint64_t code; abbrevs && (code = leb(&at)) != 0;) {
        if (code >= MAX_ABBREVS)
            exit(1);
        read_abbrev(&at, &abbrevs[code]);
    }
}

static const uint8_t *skip_die(const abbrev *a, const uint8_t *at)
{
    for (int i = 0;; i++) {
        uint64_t len;
        at += a->fixed[i];
        switch (a->op[i]) {
        case OP_END: return at;
        case OP_LEB:
            while (*at++ >= 128)
                ;
            continue;
        case OP_STRING: at += strlen((const char *)at) + 1; continue;
        case OP_BLOCK1: at += 1 + *at; continue;
        case OP_BLOCK2: at += 2 + u16(at); continue;
        case OP_BLOCK4: at += 4 + u32(at); continue;
        case OP_BLOCK_LEB: len = leb(&at); at += len;
        }
    }
}

static void *walk_units(void *arg)
{
    walker *w = arg;
    size_t i;
    while ((i = atomic_fetch_add(&next_unit, 1)) < unit_count) {
        const uint8_t *at = units[i], *end = at + 4 + u32(at);
        at += u16(at + 4) >= 5 ? 12 : 11;
        while (at < end) {
            uint64_t code = *at < 128 ? *at++ : leb(&at);
            if (!code) {
                w->counts[COUNT_NULL]++;
                continue;
            }
            w->counts[abbrevs[code].kind]++;
            at = skip_die(&abbrevs[code], at);
        }
    }
    return NULL;
}

static void run_walk(int threads)
{
    info_section = find_section("__debug_info");
    read_abbrevs();
    units = calloc(info_section.len / 11 + 1, sizeof *units);
    const uint8_t *end = info_section.ptr + info_section.len;
    for (const uint8_t *at = info_section.ptr; units && at < end; at += 4 + u32(at))
        units[unit_count++] = at;
    walker w[MAX_THREADS] = {{{0}}};
    pthread_t thread[MAX_THREADS];
    for (int t = 0; t < threads; t++)
        pthread_create(&thread[t], NULL, walk_units, &w[t]);
    uint64_t counts[COUNT_KINDS] = {0};
    for (int t = 0; t < threads; t++) {
        pthread_join(thread[t], NULL);
        for (int k = 0; k < COUNT_KINDS; k++)
            counts[k] += w[t].counts[k];
    }
    printf("units %zu dies %llu functions %llu inlined %llu\n", unit_count,
           (unsigned long long)(counts[COUNT_OTHER] + counts[COUNT_FUNCTION] + counts[COUNT_INLINED]),
           (unsigned long long)counts[COUNT_FUNCTION], (unsigned long long)counts[COUNT_INLINED]);
}

/* ---- addresses ---- */

static void run_addresses(long count, uint64_t seed)
{
    section text = find_section("__text");
    for (long i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        printf("0x%llx\n", (unsigned long long)(text.addr + (seed >> 24) % text.len));
    }
}

/* ---- report ---- */

static const uint8_t *find_command(uint32_t wanted)
{
    const uint8_t *command = file + 32;
    for (uint32_t i = 0, count = u32(file + 16); i < count; i++, command += u32(command + 4))
        if (u32(command) == wanted)
            return command;
    fprintf(stderr, "probes: load command 0x%x is missing\n", wanted);
    exit(1);
}

/* The smallest .ips that a reader of JSON reports takes: a line of metadata, then one document. */
static void run_report(long frames, uint64_t seed)
{
    section text = find_section("__text");
    const uint8_t *uuid = find_command(0x1b) + 8;
    char id[37], *at = id;
    for (int i = 0; i < 16; i++)
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02X" : "%02X", uuid[i]);
    printf("{\"app_name\":\"Bench\",\"bug_type\":\"309\",\"os_version\":\"macOS 12.0 (21A344)\"}\n"
           "{\n  \"pid\" : 1,\n  \"procName\" : \"Bench\",\n  \"cpuType\" : \"ARM-64\",\n  "
           "\"faultingThread\" : 0,\n"
           "  \"exception\" : {\"type\":\"EXC_BAD_ACCESS\",\"signal\":\"SIGSEGV\"},\n  \"threads\" : [");
    for (int thread = 0; thread < 4; thread++) {
        printf("%s{\"id\":%d,\"frames\":[", thread ? "," : "", thread + 100);
        for (long i = 0; i < frames; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            printf("%s{\"imageOffset\":%llu,\"imageIndex\":0}", i ? "," : "",
                   (unsigned long long)(text.addr + (seed >> 24) % text.len));
        }
        printf("]}");
    }
    printf("],\n  \"usedImages\" : [{\"source\":\"P\",\"arch\":\"arm64\",\"base\":4370000000,\"size\":%llu,"
           "\"uuid\":\"%s\",\"path\":\"/usr/lib/Bench\",\"name\":\"Bench\"}]\n}\n",
           (unsigned long long)(text.addr + text.len), id);
}

/* ---- thin ---- */

static uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* fat.h: the magic and a count, then fat_arch of 20 bytes: cputype, subtype, offset, size, align. */
static int run_thin(void)
{
    const uint8_t *slice = file;
    size_t len = file_len;
    if (big32(file) == 0xcafebabe) {
        len = 0;
        for (uint32_t i = 0, count = big32(file + 4); i < count && len == 0; i++)
            if (big32(file + 8 + 20 * i) == 0x0100000c) {
                slice = file + big32(file + 16 + 20 * i);
                len = big32(file + 20 + 20 * i);
            }
    }
    return len == 0 || fwrite(slice, 1, len, stdout) != len;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr,
                "usage: probes map|read|walk|addresses|report|thin FILE [THREADS|COUNT SEED|FRAMES SEED]\n");
        return 1;
    }
    map_file(argv[2]);
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    if (strcmp(argv[1], "read") == 0)
        run_read(threads);
    else if (strcmp(argv[1], "walk") == 0)
        run_walk(threads);
    else if (strcmp(argv[1], "addresses") == 0 && argc == 5)
        run_addresses(atol(argv[3]), (uint64_t)atol(argv[4]));
    else if (strcmp(argv[1], "report") == 0 && argc == 5)
        run_report(atol(argv[3]), (uint64_t)atol(argv[4]));
    else if (strcmp(argv[1], "thin") == 0)
        return run_thin();
    return 0;
}
