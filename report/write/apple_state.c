/* Registers and code of the crashed thread, in the form of Apple's text. */

#include "apple.h"
#include <string.h>

/* ---- Registers ---- */

/* "   x1: 0x0000000000000000", or the text that replaces it. */
static void apple_put_register(const apple_text *a, uint32_t state, const char *name, unsigned digits)
{
    uint32_t member = json_get(a->doc, state, name);
    uint64_t value;
    for (size_t i = strlen(name); i < 5; i++)
        text_char(a->t, ' ');
    text_c(a->t, name);
    text_c(a->t, ": ");
    if (json_u64(a->doc, json_get(a->doc, member, "value"), &value)) {
        text_c(a->t, "0x");
        text_hex(a->t, value, digits);
    } else {
        text_c(a->t, "<unavailable>     ");
    }
}

static void apple_put_description(const apple_text *a, uint32_t member)
{
    if (!apple_has(a, member, "description"))
        return;
    text_char(a->t, ' ');
    apple_put_value(a, json_get(a->doc, member, "description"));
}

/* Writes one register. The first of a line has one more blank before it. */
static void apple_put_named(const apple_text *a, uint32_t state, const char *name, unsigned digits,
                            bool is_first)
{
    text_c(a->t, is_first ? " " : "");
    apple_put_register(a, state, name, digits);
    apple_put_description(a, json_get(a->doc, state, name));
}

/* Writes four on a line: x0 to x28, and the named ones after them. */
static void apple_put_arm(const apple_text *a, uint32_t state)
{
    uint32_t general = json_get(a->doc, state, "x");
    uint32_t at = JSON_NONE;
    unsigned count = 0;
    bool has_far = apple_has(a, state, "far");
    for (; json_next(a->doc, general, &at); count++) {
        uint64_t value = 0;
        text_c(a->t, count == 0 ? " " : count % 4 == 0 ? "\n " : "");
        text_c(a->t, count < 10 ? "   x" : "  x");
        text_dec(a->t, count);
        json_u64(a->doc, json_get(a->doc, at, "value"), &value);
        text_c(a->t, ": 0x");
        text_hex(a->t, value, 16);
    }
    text_c(a->t, count > 0 && count % 4 == 0 ? "\n" : "");
    apple_put_named(a, state, "fp", 16, count % 4 == 0);
    apple_put_named(a, state, "lr", 16, false);
    text_char(a->t, '\n');
    apple_put_named(a, state, "sp", 16, true);
    apple_put_named(a, state, "pc", 16, false);
    apple_put_named(a, state, "cpsr", 8, false);
    text_char(a->t, '\n');
    if (has_far)
        apple_put_named(a, state, "far", 16, true);
    if (apple_has(a, state, "esr"))
        apple_put_named(a, state, "esr", 8, !has_far);
    text_c(a->t, has_far || apple_has(a, state, "esr") ? "\n" : "");
}

/* "Logical CPU:     0" and the processor's error. */
static void apple_put_trap(const apple_text *a, uint32_t state)
{
    uint64_t error;
    bool is_old = a->form == APPLE_CONSOLE;
    text_c(a->t, is_old ? "\n" : "  \n");
    text_c(a->t, "Logical CPU:     ");
    apple_put_value(a, json_get(a->doc, json_get(a->doc, state, "cpu"), "value"));
    text_c(a->t, is_old ? "\nError Code:      " : "\nError Code:      0x");
    if (json_u64(a->doc, json_get(a->doc, json_get(a->doc, state, "err"), "value"), &error))
        text_hex(a->t, error, 8);
    apple_put_description(a, json_get(a->doc, state, "trap"));
    text_c(a->t, "\nTrap Number:     ");
    apple_put_value(a, json_get(a->doc, json_get(a->doc, state, "trap"), "value"));
    text_char(a->t, '\n');
}

static void apple_put_intel(const apple_text *a, uint32_t state)
{
    static const char *const names[] = {"rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp", "r8",
                                        "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
    static const char *const temporaries[] = {"tmp0", "tmp1", "tmp2"};
    uint32_t rosetta = json_get(a->doc, state, "rosetta");
    uint64_t flags = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        apple_put_register(a, state, names[i], 16);
        text_c(a->t, i % 4 == 3 ? "\n" : "");
    }
    json_u64(a->doc, json_get(a->doc, json_get(a->doc, state, "rflags"), "value"), &flags);
    text_c(a->t, "  rfl: 0x");
    text_hex(a->t, flags, 16);
    if (apple_has(a, state, "cr2"))
        apple_put_register(a, state, "cr2", 16);
    text_char(a->t, '\n');
    if (json_is(a->doc, rosetta, JSON_OBJECT)) {
        for (size_t i = 0; i < 3; i++)
            apple_put_register(a, rosetta, temporaries[i], 16);
        text_c(a->t, "\n\n");
    } else if (apple_has(a, state, "cpu")) {
        apple_put_trap(a, state);
    }
}

/* ---- Code ---- */

enum { ROW = 16 };

/* Writes a row of bytes and their characters. The byte at the program counter is in brackets. */
static void apple_put_row(const apple_text *a, const uint8_t *v, size_t count, size_t mark)
{
    for (size_t i = 0; i < ROW && i < count; i++) {
        const char *between = i == mark ? "[" : i > 0 && i - 1 == mark ? "]" : i == ROW / 2 ? "-" : " ";
        text_c(a->t, i == 0 ? " " : "");
        text_c(a->t, between);
        text_hex(a->t, v[i], 2);
    }
    text_c(a->t, mark + 1 == count ? "] " : "  ");
    for (size_t i = 0; i < count; i++)
        text_char(a->t, v[i] >= 0x20 && v[i] < 0x7f ? (char)v[i] : '.');
    text_c(a->t, mark < count ? "\t<==\n" : "\n");
}

/* The bytes around the program counter. */
static void apple_put_instructions(const apple_text *a, uint32_t thread, uint64_t number)
{
    uint32_t stream = json_get(a->doc, json_get(a->doc, thread, "instructionState"), "instructionStream");
    uint32_t bytes = json_get(a->doc, stream, "bytes");
    uint64_t offset = UINT64_MAX;
    uint64_t done = 0;
    uint32_t at = JSON_NONE;
    uint8_t row[ROW];
    size_t count = 0;
    bool more = json_next(a->doc, bytes, &at);
    if (!more)
        return;
    json_u64(a->doc, json_get(a->doc, stream, "offset"), &offset);
    text_c(a->t, "\nThread ");
    text_dec(a->t, number);
    text_c(a->t, " instruction stream:\n");
    while (more) {
        uint64_t byte = 0;
        json_u64(a->doc, at, &byte);
        row[count++] = (uint8_t)byte;
        more = json_next(a->doc, bytes, &at);
        if (count < ROW && more)
            continue;
        apple_put_row(a, row, count,
                      offset >= done && offset - done < count ? (size_t)(offset - done) : (size_t)ROW);
        done += count;
        count = 0;
    }
}

/* ---- All together ---- */

void apple_put_state(const apple_text *a)
{
    const report_thread *thread = NULL;
    uint32_t at = JSON_NONE;
    uint64_t number = 0;
    if (a->doc == NULL)
        return;
    uint32_t threads = json_get(a->doc, 0, "threads");
    for (uint32_t i = a->r->main_thread; i < a->r->thread_count && thread == NULL; i++)
        thread = a->r->threads[i].kind == THREAD_PLAIN && a->r->threads[i].crashed ? &a->r->threads[i] : NULL;
    while (thread != NULL && json_next(a->doc, threads, &at) && number != thread->number)
        number++;
    uint32_t state = thread != NULL ? json_get(a->doc, at, "threadState") : JSON_NONE;
    if (!json_is(a->doc, state, JSON_OBJECT))
        return;
    bool is_intel = json_equals(a->doc, json_get(a->doc, state, "flavor"), "x86_THREAD_STATE");
    text_c(a->t, "Thread ");
    text_dec(a->t, number);
    text_c(a->t, is_intel ? " crashed with X86 Thread State (64-bit):\n"
                          : " crashed with ARM Thread State (64-bit):\n");
    if (is_intel)
        apple_put_intel(a, state);
    else
        apple_put_arm(a, state);
    apple_put_instructions(a, at, number);
    text_char(a->t, '\n');
}
