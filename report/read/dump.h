/* ==== >> read/dump ====
 * Job: what was kept of a dead process, as the text of a crash report.
 * Offers: dump_register_of, dump_add_image, dump_add_thread, dump_index_threads, dump_find_thread,
 * dump_add_memory, dump_note, dump_take_text, dump_sort_memory, dump_bytes_at, dump_put_info, dump_put,
 * dump_free.
 * Never: knows the format of a file.
 *
 * Minidumps and core files hold the same: threads with their registers, memory, and which images lie where.
 * Their readers fill a dump, which is written once it is whole. */
#ifndef MACHSYM_TOOL_DUMP_H
#define MACHSYM_TOOL_DUMP_H

#include "../base/text.h"
#include "../base/memory.h"
#include "decoded.h"
#include "machsym.h"

/* The types of processors, as Mach-O numbers them. */
enum { DUMP_CPU_X86_64 = 0x01000007, DUMP_CPU_ARM64 = 0x0100000c };

/* ---- Registers ---- */

/* Which registers a state has. */
enum { DUMP_CONTROL = 1 /* where it stood */, DUMP_INTEGER = 2, DUMP_ALL = 3 };

/* A register in the bytes of a state. */
typedef struct dump_register {
    const char *name; /* as Apple's text has it */
    uint16_t at;
    uint8_t size; /* 4 or 8 */
    uint8_t group;
} dump_register;

/* How the registers of a processor lie in a state. */
typedef struct dump_layout {
    uint32_t cputype;
    const char *arch;
    const char *title; /* Apple's words: ARM Thread State (64-bit) */
    const char *pc;
    const char *sp;
    const char *fp;
    const char *lr; /* NULL: calls leave the return address on the stack */
    const dump_register *v;
    uint32_t count;
} dump_layout;

/* The rows of arm64's registers, which stand in one order everywhere. */
#define DUMP_ARM64_X(first, i)                                                                               \
    {                                                                                                        \
        "x" #i, (first) + 8 * (i), 8, DUMP_INTEGER                                                           \
    }
#define DUMP_ARM64(first, cpsr_at)                                                                           \
    DUMP_ARM64_X(first, 0), DUMP_ARM64_X(first, 1), DUMP_ARM64_X(first, 2), DUMP_ARM64_X(first, 3),          \
        DUMP_ARM64_X(first, 4), DUMP_ARM64_X(first, 5), DUMP_ARM64_X(first, 6), DUMP_ARM64_X(first, 7),      \
        DUMP_ARM64_X(first, 8), DUMP_ARM64_X(first, 9), DUMP_ARM64_X(first, 10), DUMP_ARM64_X(first, 11),    \
        DUMP_ARM64_X(first, 12), DUMP_ARM64_X(first, 13), DUMP_ARM64_X(first, 14), DUMP_ARM64_X(first, 15),  \
        DUMP_ARM64_X(first, 16), DUMP_ARM64_X(first, 17), DUMP_ARM64_X(first, 18), DUMP_ARM64_X(first, 19),  \
        DUMP_ARM64_X(first, 20), DUMP_ARM64_X(first, 21), DUMP_ARM64_X(first, 22), DUMP_ARM64_X(first, 23),  \
        DUMP_ARM64_X(first, 24), DUMP_ARM64_X(first, 25), DUMP_ARM64_X(first, 26), DUMP_ARM64_X(first, 27),  \
        DUMP_ARM64_X(first, 28), {"fp", (first) + 232, 8, DUMP_CONTROL},                                     \
        {"lr", (first) + 240, 8, DUMP_CONTROL}, {"sp", (first) + 248, 8, DUMP_CONTROL},                      \
        {"pc", (first) + 256, 8, DUMP_CONTROL},                                                              \
    {                                                                                                        \
        "cpsr", cpsr_at, 4, DUMP_CONTROL                                                                     \
    }

typedef struct dump_state {
    const dump_layout *layout; /* NULL: the registers are not known */
    machsym_str bytes;         /* as long as the layout needs */
    unsigned groups;
} dump_state;

/* False: the state lacks it. */
bool dump_register_of(const dump_state *state, const char *name, uint64_t *out);

/* ---- A dead process ---- */

typedef struct dump_thread {
    uint64_t id;
    machsym_str name;
    dump_state state;
    dump_state trap; /* registers that tell why it stopped */
    bool crashed;
    bool is_asked; /* it asked for the dump of a process that did not crash: its registers are told */
} dump_thread;

/* Where a thread of a number stands. */
typedef struct dump_number {
    uint64_t id;
    uint32_t index;
} dump_number;

/* Memory at an address. */
typedef struct dump_memory {
    uint64_t base;
    machsym_str bytes;
    uint32_t index; /* in the file */
} dump_memory;

typedef struct dump {
    mem_source *memory_source; /* NULL: the heap */
    size_t file_len;           /* what is written of it keeps in proportion to this */
    size_t text_left;          /* how much of names and texts may be taken yet */
    const char *what;          /* what is damaged first; NULL: nothing */
    size_t damaged_at;
    text head;  /* lines ahead of the exception */
    text event; /* lines of the exception */
    text info;  /* lines of Application Specific Information */
    text tail;  /* lines after the images */
    pool strings;
    uint32_t cputype;  /* 0: not known */
    bool has_bad_jump; /* the process died as it fetched the instruction at its pc */
    decoded_image *images;
    uint32_t image_count;
    uint32_t image_cap;
    dump_thread *threads;
    uint32_t thread_count;
    uint32_t thread_cap;
    dump_number *numbers; /* of the threads that were there when they were sorted, by number */
    uint32_t number_count;
    dump_memory *memory;
    uint32_t memory_count;
    uint32_t memory_cap;
} dump;

/* Sets an empty one up. file_len: what is written keeps in proportion to it; text_left: how much of names and
 * texts may be taken. */
void dump_begin(dump *d, mem_source *memory, size_t file_len, size_t text_left);
decoded_image *dump_add_image(dump *d);
dump_thread *dump_add_thread(dump *d);
/* Sorts the numbers of the threads for the next one, which finds the first thread of a number; NULL: none. */
void dump_index_threads(dump *d);
dump_thread *dump_find_thread(dump *d, uint64_t id);
void dump_add_memory(dump *d, uint64_t base, machsym_str bytes);
/* Notes damage; the first one is told. at: the byte of the file. */
void dump_note(dump *d, size_t at, const char *what);
/* A name or text of the file, kept as long as the dump. Texts may overlap: no more of them is taken than so
 * much as the file may hold; at: where this one stands. */
machsym_str dump_take_text(dump *d, machsym_str plain, size_t at);
/* Sorts the memory, for the next one: the bytes that follow an address; empty: none. */
void dump_sort_memory(dump *d);
machsym_str dump_bytes_at(const dump *d, uint64_t addr);
/* An escaped line of Application Specific Information. source: whose message it is. */
void dump_put_info(dump *d, machsym_str source, machsym_str message);
/* Writes the report. Sorts the images and the memory. */
void dump_put(dump *d, text *out);
void dump_free(dump *d);

#endif
