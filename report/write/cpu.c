/* See cpu.h. */
#include "cpu.h"
#include "machsym.h"
#include "../base/json_put.h"
#include "../model/registers.h"
#include "../tell/access.h"
#include "../tell/esr.h"
#include "call.h"

/* Writes what a register points to: an image and a place in it, or a memory region. */
static void cpu_put_target(text *t, const report *r, const report_register *one)
{
    uint64_t addr = report_plain_addr(r, one->value);
    machsym_str region = access_region_at(r, addr);
    if (one->image != REPORT_NONE) {
        json_put_number(t, "image", one->image);
        json_put_hex(t, "image_offset", addr - r->images[one->image].base);
    }
    if (region.len > 0)
        json_put_str(t, "region", region);
    if (one->call_count == 0)
        return;
    text_c(t, ",\"calls\":[");
    for (uint32_t i = 0; i < one->call_count; i++) {
        text_c(t, i > 0 ? "," : "");
        call_put_json(t, &r->calls[one->call + i]);
    }
    text_char(t, ']');
}

/* Writes the fields of an arm64 syndrome. */
static void cpu_put_esr(text *t, uint64_t value)
{
    static const char *const classes[] = {"other",
                                          "illegal_state",
                                          "branch_target",
                                          "syscall",
                                          "pointer_authentication",
                                          "instruction_abort",
                                          "pc_alignment",
                                          "data_abort",
                                          "sp_alignment",
                                          "float",
                                          "brk"};
    static const char *const faults[] = {NULL,          "other",        "address_size", "translation",
                                         "access_flag", "permission",   "tag",          "alignment",
                                         "external",    "tlb_conflict", "exclusive"};
    esr_syndrome esr = esr_decode(value);
    text_c(t, ",\"esr\":{\"value\":\"0x");
    text_hex(t, value, 1);
    text_char(t, '"');
    json_put_str(t, "class", str_c(classes[esr.what]));
    if (faults[esr.fault] != NULL)
        json_put_str(t, "fault", str_c(faults[esr.fault]));
    if (access_name(esr.access) != NULL)
        json_put_str(t, "access", str_c(access_name(esr.access)));
    if (esr.size > 0)
        json_put_number(t, "size", esr.size);
    text_char(t, '}');
}

void cpu_put_registers(text *t, const report *r, const report_thread *thread)
{
    uint64_t esr;
    if (thread->register_count == 0)
        return;
    text_c(t, ",\n\"registers\":[");
    for (uint32_t i = 0; i < thread->register_count; i++) {
        const report_register *one = registers_at(r, thread, i);
        text_c(t, i > 0 ? ",{\"name\":" : "{\"name\":");
        text_json(t, one->name);
        json_put_hex(t, "value", one->value);
        if (one->note.len > 0)
            json_put_str(t, "note", one->note);
        cpu_put_target(t, r, one);
        text_char(t, '}');
    }
    text_char(t, ']');
    if (registers_value(r, thread, "esr", &esr))
        cpu_put_esr(t, esr);
}

void cpu_put_code(text *t, const report_thread *thread)
{
    if (thread->code.len == 0)
        return;
    text_c(t, ",\"instructions\":{\"bytes\":");
    text_json(t, thread->code);
    if (thread->code_at < thread->code.len / 2)
        json_put_number(t, "at", thread->code_at);
    text_char(t, '}');
}
