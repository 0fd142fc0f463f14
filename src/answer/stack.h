#ifndef ms_ROOM_answer_stack
#define ms_ROOM_answer_stack
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "../dwarf/functions.h"
#include "../dwarf/callsites.h"
#include "../dwarf/nametable.h"
#include "../symmap/symmap.h"
#include "../symmap/twins.h"
#include "session.h"
#include "objects.h"
#include "named.h"
#include "answer.h"
#include "folded.h"

/* ==== >>stack ==============================================================================================
 * Job:    looks up a stack: of functions that share their code, the caller says which one it called.
 * Offers: ms_stk_lookup, ms_stk_code_of, ms_stk_is_visible, ms_stk_may_come_back.
 * Never:  decides where two answers are possible. */

/* Functions that a caller may be: one, unless it shares its code and nothing decided. */
typedef struct ms_stk_callers {
    ms_fold_one v[MACHSYM_MAX_CALLERS];
    uint32_t numbers[MACHSYM_MAX_CALLERS]; /* of a map: theirs in their body, in place of v */
    size_t count;                          /* 0: nothing is known of what they call */
    const machsym_session *own;            /* whose units they are of */
    uint64_t return_pc;
} ms_stk_callers;

/* The last entry that an entry leads to by its abstract origin or specification: functions that are the same
 * one have the same. */
static uint64_t ms_stk_source(ms_cu_env *env, uint64_t die_off)
{
    ms_dw_die die;
    for (unsigned links = 0; links < MACHSYM_MAX_NAME_LINKS; links++) {
        const ms_cu_root *root = ms_fn_entry(env, die_off, &die);
        if (root == NULL || (!ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_ORIGIN), &die_off) &&
                             !ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_SPECIFICATION), &die_off)))
            break;
    }
    return die_off;
}

/* Whether an entry, or one that it leads to, has a flag. */
static bool ms_stk_has_flag(ms_cu_env *env, uint64_t die_off, uint16_t attribute)
{
    ms_dw_die die;
    for (unsigned links = 0; links < MACHSYM_MAX_NAME_LINKS; links++) {
        ms_dw_value value;
        const ms_cu_root *root = ms_fn_entry(env, die_off, &die);
        if (root == NULL)
            return false;
        ms_rd rd = ms_rd_make(ms_span_sub(env->dw->info, die_off, root->enc.unit_end - die_off));
        const ms_dw_abbrev *abbrev = ms_dw_abbrev_from_code(root->abbrevs, ms_rd_uleb(&rd));
        if (!ms_dw_read_listed(env->dw, root->abbrevs, abbrev, &rd, &root->enc, &attribute, 1, &value))
            return false;
        if (value.form != 0 && value.u != 0)
            return true;
        if (!ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_ORIGIN), &die_off) &&
            !ms_dw_reference(&root->enc, ms_dw_get(&die, ms_SLOT_SPECIFICATION), &die_off))
            return false;
    }
    return false;
}

/* Where the code of a function begins by its entry; 0: that cannot be read; UINT64_MAX: it is not stated. */
static uint64_t ms_stk_code_of(ms_cu_env *env, uint64_t die_off)
{
    ms_dw_die die;
    uint64_t lo = 0;
    const ms_cu_root *root = ms_fn_entry(env, die_off, &die);
    if (root == NULL ||
        (ms_dw_get(&die, ms_SLOT_LOW_PC)->form == 0 && ms_dw_get(&die, ms_SLOT_RANGES)->form == 0))
        return UINT64_MAX;
    return ms_dw_address(env->dw, &root->enc, ms_dw_get(&die, ms_SLOT_LOW_PC), &lo) ? lo : 0;
}

/* The function of a set that has an entry, or leads to the same one; the set's count when none does, or
 * several do. */
static size_t ms_stk_by_entry(ms_cu_env *env, const ms_fold_set *set, uint64_t target)
{
    size_t found = set->count;
    for (size_t i = 0; i < set->count; i++) {
        if (set->v[i].die_off == target)
            return i;
    }
    uint64_t source = ms_stk_source(env, target);
    for (size_t i = 0; i < set->count; i++) {
        if (set->v[i].die_off == 0 || ms_stk_source(env, set->v[i].die_off) != source)
            continue;
        if (found != set->count)
            return set->count;
        found = i;
    }
    return found;
}

/* Whether a function may be the one that another unit declares: one that units cannot see is not. */
static bool ms_stk_is_visible(ms_cu_env *env, const ms_fold_one *one)
{
    return one->die_off == 0 || ms_stk_has_flag(env, one->die_off, ms_DW_AT_external);
}

/* The function of a set that has the name of a declaration, or of an entry whose code the linker dropped; the
 * set's count when none has, or several have. */
static size_t ms_stk_by_name(machsym_session *s, const ms_fold_set *set, uint64_t target)
{
    ms_fn_names names = ms_fn_names_of(&s->env, target, false);
    machsym_str want = names.linkage_name.len != 0 ? names.linkage_name : names.name;
    size_t found = set->count;
    if (want.len == 0 || ms_stk_code_of(&s->env, target) != UINT64_MAX || !set->is_whole)
        return found;
    want = ms_ans_linkage(ms_ans_clean(want), ms_ans_clean(names.name));
    for (size_t i = 0; i < set->count; i++) {
        if (!ms_str_equal(ms_fold_name(s, &set->v[i]), want) || !ms_stk_is_visible(&s->env, &set->v[i]))
            continue;
        if (found != set->count)
            return set->count;
        found = i;
    }
    return found;
}

/* ---- Tail calls ---- */

/* Functions that the tail calls of a body lead to, itself the first one. */
typedef struct ms_stk_tails {
    uint64_t body;                        /* where its code begins */
    uint64_t left;                        /* bytes of entries that may still be read */
    uint64_t v[MACHSYM_MAX_TAIL_CALLEES]; /* their entries */
    size_t count;
} ms_stk_tails;

/* Adds a function that has code. Returns false when that is the body's, or it is one too many. */
static bool ms_stk_reach(ms_stk_tails *tails, uint64_t entry, uint64_t lo)
{
    if (lo == 0 || lo == tails->body)
        return false;
    for (size_t i = 0; i < tails->count; i++) {
        if (tails->v[i] == entry)
            return true;
    }
    if (tails->count == MACHSYM_MAX_TAIL_CALLEES)
        return false;
    tails->v[tails->count++] = entry;
    return true;
}

/* The name by which units know a function. */
static machsym_str ms_stk_known_as(ms_cu_env *env, uint64_t entry)
{
    ms_fn_names names = ms_fn_names_of(env, entry, false);
    return names.linkage_name.len != 0 ? names.linkage_name : names.name;
}

/* Whether a name is one of those that free memory: operator delete, and free. They call nothing else. Most
 * tail calls to other libraries are of them: destructors end so. */
static bool ms_stk_is_freeing(machsym_str name)
{
    return ms_str_begins(name, "_Zdl") || ms_str_begins(name, "_Zda") || ms_str_is(name, "free");
}

/* Adds the functions that a declaration may mean, which the table of names tells. Returns false when one of
 * them is of the body, or none is there: it may be another library's, or have no debug info. */
static bool ms_stk_reach_by_name(machsym_session *s, ms_stk_tails *tails, uint64_t target)
{
    ms_nt_found found;
    bool is_there = false;
    const ms_nt *table = ms_named_table(s);
    machsym_str name = ms_stk_known_as(&s->env, target);
    if (name.len == 0 || table == NULL)
        return false;
    ms_nt_find(table, name, 0, UINT64_MAX, &found);
    for (size_t i = 0; i < found.count && !found.is_unsure; i++) {
        uint64_t lo = ms_stk_code_of(&s->env, found.v[i]);
        if (lo == UINT64_MAX || !ms_str_equal(ms_stk_known_as(&s->env, found.v[i]), name) ||
            (!ms_stk_has_flag(&s->env, found.v[i], ms_DW_AT_external) &&
             ms_stk_source(&s->env, found.v[i]) != ms_stk_source(&s->env, target)))
            continue;
        if (!ms_stk_reach(tails, found.v[i], lo))
            return false;
        is_there = true;
    }
    return (is_there || ms_stk_is_freeing(name)) && !found.is_unsure;
}

/* Adds the functions that the tail calls of one lead to. Returns false when one of them is of the body, or
 * they are not all known. */
static bool ms_stk_follow(machsym_session *s, ms_stk_tails *tails, uint64_t entry)
{
    ms_dw_die die;
    ms_call_site site;
    const ms_cu_root *root = ms_fn_entry(&s->env, entry, &die);
    if (root == NULL || !ms_call_has_all(s->env.dw, root, entry))
        return false;
    ms_call_walk walk = ms_call_begin_tails(s->env.dw, root, entry, tails->left);
    while (ms_call_next(&walk, &site)) {
        if (site.target == 0 ||
            s->env.dw->moves != NULL) /* addresses of an object file are not the linked ones */
            return false;
        uint64_t lo = ms_stk_code_of(&s->env, site.target);
        if (lo != UINT64_MAX ? !ms_stk_reach(tails, site.target, lo)
                             : !ms_stk_reach_by_name(s, tails, site.target))
            return false;
    }
    tails->left -= walk.len < tails->left ? walk.len : tails->left;
    return walk.lists == 0;
}

/* Whether the tail calls of a body may lead to it again. Then a frame in it may be another of its functions
 * than the one that was called. entry: that of its first function; 0: it has none. Takes the bytes of entries
 * that it reads from *left. */
static bool ms_stk_may_come_back(machsym_session *s, uint64_t body, uint64_t entry, uint64_t *left)
{
    ms_stk_tails tails;
    tails.body = body;
    tails.left = *left < MACHSYM_MAX_TAIL_BYTES ? *left : MACHSYM_MAX_TAIL_BYTES;
    tails.v[0] = entry;
    tails.count = 1;
    uint64_t most = tails.left;
    bool is_known = entry != 0;
    for (size_t i = 0; i < tails.count && is_known; i++)
        is_known = ms_stk_follow(s, &tails, tails.v[i]);
    *left -= most - tails.left;
    return !is_known;
}

/* ---- Which function is called ---- */

/* The function of a set that a caller calls; the set's count when that is not known. */
static size_t ms_stk_called_by(machsym_session *s, const ms_fold_set *set, const ms_fold_one *caller,
                               uint64_t return_pc)
{
    const ms_cu_root *root =
        caller->die_off != 0 && caller->unit < s->env.count ? ms_cu_root_of(&s->env, caller->unit) : NULL;
    if (root == NULL || !ms_ses_need(s, ms_NEEDS_ADDR))
        return set->count;
    uint64_t target = ms_call_target(s->env.dw, root, caller->die_off, return_pc);
    if (target == 0)
        return set->count;
    size_t found = ms_stk_by_entry(&s->env, set, target);
    return found != set->count ? found : ms_stk_by_name(s, set, target);
}

/* The function of a set that all possible callers call; the set's count when they differ, or one is not
 * known. */
static size_t ms_stk_decide(machsym_session *s, const ms_fold_set *set, const ms_stk_callers *callers)
{
    size_t found = set->count;
    if (callers->own != s)
        return set->count;
    for (size_t i = 0; i < callers->count; i++) {
        size_t one = ms_stk_called_by(s, set, &callers->v[i], callers->return_pc);
        if (one == set->count || (i > 0 && one != found))
            return set->count;
        found = one;
    }
    uint64_t left = MACHSYM_MAX_TAIL_BYTES;
    return ms_stk_may_come_back(s, set->lo, set->v[0].die_off, &left) ? set->count : found;
}

/* Sets what is known of the caller of the frame inside. */
static void ms_stk_set_callers(const machsym_session *s, const ms_fold_set *set, size_t decided,
                               const machsym_stack_addr *pc, ms_stk_callers *callers)
{
    callers->count = 0;
    callers->own = s;
    callers->return_pc = pc->addr;
    if (!pc->is_return || set == NULL || !set->is_whole)
        return;
    size_t first = decided < set->count ? decided : 0;
    size_t end = decided < set->count ? decided + 1 : set->count;
    for (size_t i = first; i < end; i++) {
        if (set->v[i].die_off == 0 || i - first == MACHSYM_MAX_CALLERS) { /* what it calls is not known */
            callers->count = 0;
            return;
        }
        callers->v[callers->count++] = set->v[i];
    }
}

/* ---- In a map ---- */

/* The number of the function of a body that all possible callers call; UINT32_MAX when they differ, or one is
 * not known. */
static uint32_t ms_stk_decide_in_map(machsym_session *s, const ms_tw_body *body,
                                     const ms_stk_callers *callers)
{
    const machsym_map *map = s->image->map;
    uint64_t off = callers->return_pc - map->head.text_addr;
    uint32_t found = UINT32_MAX;
    for (size_t i = 0; i < callers->count && off <= UINT32_MAX; i++) {
        uint32_t one =
            ms_tw_callee(map, ms_map_kept_pages(s->kept), (uint32_t)off, callers->numbers[i], body->lo);
        if (one > body->count || (i > 0 && one != found))
            return UINT32_MAX;
        found = one;
    }
    return found;
}

/* Sets what is known of the caller of the frame inside. */
static void ms_stk_set_callers_in_map(const ms_tw_body *body, uint32_t decided, const machsym_stack_addr *pc,
                                      ms_stk_callers *callers)
{
    uint32_t first = decided != UINT32_MAX ? decided : 0;
    uint32_t last = decided != UINT32_MAX ? decided : body->count;
    callers->count = 0;
    callers->return_pc = pc->addr;
    if (!pc->is_return || body->is_cut || last - first >= MACHSYM_MAX_CALLERS)
        return;
    for (uint32_t number = first; number <= last; number++)
        callers->numbers[callers->count++] = number;
}

/* The same as ms_stk_one in a map. */
static void ms_stk_one_in_map(machsym_session *s, const machsym_stack_addr *pc, uint64_t addr,
                              ms_stk_callers *callers, machsym_stack_answer *call, machsym_frame *frames,
                              size_t cap)
{
    ms_tw_body body;
    uint32_t decided = UINT32_MAX;
    ms_zero(&body, sizeof body);
    bool is_shared = ms_fold_in_map(s, addr, &body);
    if (is_shared && callers->count != 0)
        decided = ms_stk_decide_in_map(s, &body, callers);
    call->count = decided != UINT32_MAX ? ms_fold_map_frames(s, &body, decided, addr, frames, cap) : 0;
    call->is_decided = call->count != 0;
    if (!call->is_decided)
        call->count = ms_ans_frames(s, addr, frames, cap);
    call->function_count = call->count == 0 ? 0 : (size_t)body.count + 1;
    ms_stk_set_callers_in_map(&body, call->is_decided ? decided : UINT32_MAX, pc, callers);
}

/* ---- The stack ---- */

/* Looks up one address, where callers is what is known of its caller. */
static void ms_stk_one(machsym_session *s, const machsym_stack_addr *pc, ms_stk_callers *callers,
                       machsym_stack_answer *call, machsym_frame *frames, size_t cap)
{
    uint64_t addr = pc->addr - (pc->is_return ? 1 : 0);
    ms_ses_begin(s);
    call->is_decided = false;
    call->function_count = 0;
    if (pc->addr == UINT64_MAX) {
        call->count = ms_ans_frames(s, addr, frames, cap);
        callers->count = 0;
        return;
    }
    if (s->image->map != NULL) {
        ms_stk_one_in_map(s, pc, addr, callers, call, frames, cap);
        return;
    }
    ms_ses_trim_for(s, addr);
    ms_ses_object *object = ms_obj_at(s, addr);
    machsym_session *own = object != NULL ? &object->session : s;
    const ms_fold_set *set = ms_fold_at(own, addr);
    size_t decided = set == NULL ? 0 : set->count;
    if (set != NULL && set->count > 1 && callers->count != 0)
        decided = ms_stk_decide(own, set, callers);
    if (set != NULL)
        call->function_count = set->count;
    call->is_decided = set != NULL && decided < set->count;
    ms_stk_set_callers(own, set, decided, pc, callers);
    if (!call->is_decided) {
        call->count = ms_ans_frames(s, addr, frames, cap);
        return;
    }
    uint64_t until;
    ms_fold_one one = set->v[decided]; /* the set may be made anew */
    call->count = ms_fold_frames(own, set, &one, addr, frames, cap, &until);
    if (object != NULL)
        ms_obj_keep_frames(s, frames, call->count < cap ? call->count : cap);
    for (size_t i = 0; i < call->count && i < cap; i++)
        frames[i].lacks_memory = ms_ses_lacked_memory(s);
}

/* Looks up a stack, the innermost address first. Callers are known first, so it begins at the outermost. */
static size_t ms_stk_lookup(machsym_session *s, const machsym_stack_addr *pcs, size_t count,
                            machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    ms_stk_callers callers;
    size_t total = 0;
    ms_zero(&callers, sizeof callers);
    s->asks_many |= count > 1;
    for (size_t i = count; i-- > 0;) {
        calls[i].first = total;
        ms_stk_one(s, &pcs[i], &callers, &calls[i], total < cap ? frames + total : NULL,
                   total < cap ? cap - total : 0);
        total += calls[i].count;
    }
    return total;
}

#endif /* ms_ROOM_answer_stack */
