/* See registers.h. */
#include "registers.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "stack.h"

/* No processor's state has more registers. A damaged text may list more; they are ignored. */
enum { REGISTERS_MAX = 128 };

void registers_add(report *r, report_thread *thread, machsym_str name, uint64_t value, machsym_str note)
{
    if (thread->register_count >= REGISTERS_MAX)
        return;
    for (uint32_t i = 0; i < thread->register_count; i++) {
        if (str_equal(registers_at(r, thread, i)->name, name))
            return;
    }
    if (thread->register_count == 0)
        thread->first_register = r->register_count;
    report_register *one = (report_register *)mem_add(r->memory, &r->registers, &r->register_count,
                                                      &r->register_cap, sizeof *r->registers);
    one->name = name;
    one->value = value;
    one->note = note;
    one->image = REPORT_NONE;
    thread->register_count++;
}

const report_register *registers_at(const report *r, const report_thread *thread, uint32_t index)
{
    return &r->registers[thread->first_register + index];
}

const report_register *registers_find(const report *r, const report_thread *thread, const char *name)
{
    for (uint32_t i = 0; i < thread->register_count; i++) {
        const report_register *one = registers_at(r, thread, i);
        if (str_is(one->name, name))
            return one;
    }
    return NULL;
}

bool registers_value(const report *r, const report_thread *thread, const char *name, uint64_t *out)
{
    const report_register *one = registers_find(r, thread, name);
    if (one != NULL)
        *out = one->value;
    return one != NULL;
}

/* Reads a register of JSON: a number, or an object with a value and a note. */
static void registers_add_member(report *r, report_thread *thread, const json *doc, machsym_str name,
                                 uint32_t member)
{
    uint64_t value;
    machsym_str note = {NULL, 0};
    if (json_is(doc, member, JSON_OBJECT)) {
        uint32_t words = json_get(doc, member, "description");
        words = words != JSON_NONE ? words : json_get(doc, member, "symbol");
        note = json_is(doc, words, JSON_STRING) ? report_json_str(r, doc, words) : note;
        member = json_get(doc, member, "value");
    }
    if (json_u64(doc, member, &value))
        registers_add(r, thread, name, value, note);
}

/* "x": [{"value": 1}, ...] */
static void registers_add_numbered(report *r, report_thread *thread, const json *doc, uint32_t array)
{
    static const char *const names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",
                                        "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
                                        "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"};
    uint32_t at = JSON_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names && json_next(doc, array, &at); i++)
        registers_add_member(r, thread, doc, str_c(names[i]), at);
}

void registers_of_json(report *r, report_thread *thread, const json *doc, uint32_t object)
{
    static const char *const names[] = {
        "x0",  "x1",  "x2",     "x3",  "x4",     "x5",  "x6",   "x7",   "x8",   "x9",  "x10", "x11",  "x12",
        "x13", "x14", "x15",    "x16", "x17",    "x18", "x19",  "x20",  "x21",  "x22", "x23", "x24",  "x25",
        "x26", "x27", "x28",    "x29", "r0",     "r1",  "r2",   "r3",   "r4",   "r5",  "r6",  "r7",   "rax",
        "rbx", "rcx", "rdx",    "rdi", "rsi",    "rbp", "rsp",  "r8",   "r9",   "r10", "r11", "r12",  "r13",
        "r14", "r15", "rip",    "ip",  "fp",     "lr",  "sp",   "pc",   "eax",  "ebx", "ecx", "edx",  "edi",
        "esi", "ebp", "esp",    "ss",  "eflags", "eip", "cs",   "ds",   "es",   "fs",  "gs",  "cpsr", "far",
        "esr", "fsr", "rflags", "cr2", "cpu",    "err", "trap", "tmp0", "tmp1", "tmp2"};
    uint32_t numbered = json_get(doc, object, "x");
    if (json_is(doc, numbered, JSON_ARRAY))
        registers_add_numbered(r, thread, doc, numbered);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        registers_add_member(r, thread, doc, str_c(names[i]), json_get(doc, object, names[i]));
}

const report_thread *registers_thread(const report *r)
{
    const report_thread *thread = stack_main(r);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].crashed && r->threads[i].register_count > 0)
            return &r->threads[i];
    }
    return thread;
}
