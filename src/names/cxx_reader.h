#ifndef ms_ROOM_names_cxx_reader
#define ms_ROOM_names_cxx_reader
#include "../base/bytes.h"
#include "cxx_nodes.h"

/* ==== >>cxx-reader ========================================================================================
 * Job:    reads a C++ name into its tree, by the grammar of the Itanium ABI.
 * Offers: ms_dmcxr_mangled.
 * Never:  prints. */

#ifndef MACHSYM_NO_CXX
/* the grammar recurses */
static uint32_t ms_dmcxr_type(ms_dmcx *p);
static uint32_t ms_dmcxr_expr(ms_dmcx *p);
static uint32_t ms_dmcxr_name(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcxr_encoding(ms_dmcx *p);
static uint32_t ms_dmcxr_template_arg(ms_dmcx *p);
static uint32_t ms_dmcxr_template_args(ms_dmcx *p, uint32_t name, bool tag);
static uint32_t ms_dmcxr_param_decl(ms_dmcx *p, ms_dmcx_cell *params);
static uint32_t ms_dmcxr_unnamed(ms_dmcx *p, ms_dmcx_name_state *state);
static uint32_t ms_dmcxr_qualified(ms_dmcx *p);

/* Reads the expression after Q. It may use parameters of all enclosing templates, whose levels are not
 * known here. */
static uint32_t ms_dmcxr_constraint_expr(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t expr = ms_dmcxr_expr(p);
    p->constraint = constraint;
    return expr;
}

/* Reads a concept's name that stands before a parameter, with the same rule. */
static uint32_t ms_dmcxr_constraint_name(ms_dmcx *p)
{
    bool constraint = p->constraint;
    p->constraint = true;
    uint32_t name = ms_dmcxr_name(p, NULL);
    p->constraint = constraint;
    return name;
}

/* ---- C++: template parameters ---- */

/* Opens a level. Returns its head's cell, 0 on failure. */
static uint32_t ms_dmcxr_push_level(ms_dmcx *p)
{
    uint32_t head = ms_dmcx_take(p, 1);
    uint32_t level = ms_dmcx_take(p, 1);
    if (level == 0)
        return 0;
    p->cells[head] = ms_dmcx_empty();
    p->cells[level].item = head;
    p->cells[level].next = p->levels;
    p->levels = level;
    p->level_count++;
    return head;
}

static void ms_dmcxr_pop_level(ms_dmcx *p)
{
    p->levels = p->cells[p->levels].next;
    p->level_count--;
}

/* Closes levels until count are left. */
static void ms_dmcxr_pop_levels_to(ms_dmcx *p, uint32_t count)
{
    while (p->level_count > count)
        ms_dmcxr_pop_level(p);
}

/* The node that stands for a template argument where its parameter is used. For a pack of arguments it is
 * a PACK, whose elements expansions print one by one. */
static uint32_t ms_dmcxr_argument(ms_dmcx *p, uint32_t arg)
{
    uint32_t kind = ms_dmcx_kind_of(p, arg);
    if (kind == ms_DMCX_QUALIFIED_ARG)
        return ms_dmcx_at(p, arg)->a;
    if (kind != ms_DMCX_ARG_PACK)
        return arg;
    if (ms_dmcx_at(p, arg)->c != 0)
        return ms_dmcx_at(p, arg)->c;
    uint32_t list = ms_dmcx_at(p, arg)->a;
    uint32_t count = 0;
    uint32_t flags = 0;
    for (uint32_t cell = list; cell != 0; cell = p->cells[cell].next) {
        uint32_t of = ms_dmcx_flags_of(p, p->cells[cell].item);
        flags |= (of & ms_DMCX_SHAPE) * ms_DMCX_ASK | (of & ms_DMCX_ASK_ALL);
        count++;
    }
    uint32_t v = ms_dmcx_take(p, count / 2 + 1);
    uint32_t pack = v == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_PACK, v, count, flags);
    if (pack == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        *ms_dmcx_pack_at(p, v, i) = p->cells[list].item;
        list = p->cells[list].next;
    }
    ms_dmcx_at(p, arg)->c = pack;
    return pack;
}

/* Argument index of a level; 0 when there is none. */
static uint32_t ms_dmcxr_level_argument(ms_dmcx *p, uint32_t level, uint32_t index)
{
    if (level >= p->level_count)
        return 0;
    uint32_t at = p->levels;
    for (uint32_t up = p->level_count - 1; up > level; up--)
        at = p->cells[at].next;
    uint32_t head = p->cells[at].item;
    uint32_t cell = head == 0 ? 0 : p->cells[head].item;
    if (index >= p->d->work)
        return ms_dmcx_fail(p);
    p->d->work -= index;
    for (; cell != 0 && index != 0; index--)
        cell = p->cells[cell].next;
    return cell == 0 ? 0 : ms_dmcxr_argument(p, p->cells[cell].item);
}

/* `auto` of a generic lambda is mangled as a parameter of a level that is not there (ABI 5.1.8). */
static uint32_t ms_dmcxr_lambda_auto(ms_dmcx *p, uint32_t level)
{
    if (p->auto_level != level || level > p->level_count)
        return 0;
    if (level == p->level_count) {
        uint32_t head = ms_dmcxr_push_level(p);
        if (head == 0)
            return 0;
        p->cells[p->levels].item = 0;
    }
    return ms_DMCX_W_AUTO;
}

/* <template-param> (ABI 5.1.8) */
static uint32_t ms_dmcxr_template_param(ms_dmcx *p)
{
    ms_dmcx_span t;
    t.off = p->at;
    if (!ms_dmcx_eat(p, 'T'))
        return 0;
    uint32_t level = 0;
    if (ms_dmcx_eat(p, 'L')) {
        if (!ms_dmcx_count(p, &level) || !ms_dmcx_eat(p, '_'))
            return 0;
        level++;
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_count(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    if (p->constraint) {
        t.len = p->at - 1 - t.off;
        return ms_dmcx_make_text(p, t);
    }
    if (p->permit_forward && level == 0) {
        uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_FORWARD, index, p->forward, ms_DMCX_ASK_ALL);
        if (ref != 0)
            p->forward = ref;
        return ref;
    }
    uint32_t arg = ms_dmcxr_level_argument(p, level, index);
    return arg != 0 ? arg : ms_dmcxr_lambda_auto(p, level);
}

/* Resolves forward references: a conversion operator's type may use template arguments that follow it. */
static bool ms_dmcxr_resolve_forward(ms_dmcx *p, uint32_t until)
{
    while (p->forward != until) {
        ms_dmcx_node *n = ms_dmcx_at(p, p->forward);
        uint32_t arg = ms_dmcxr_level_argument(p, 0, n->a);
        if (arg == 0)
            return false;
        n->c = arg;
        p->forward = n->b;
    }
    return true;
}

static bool ms_dmcxr_at_param_decl(const ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'T')
        return false;
    char c = ms_dmcx_peek(p, 1);
    return c == 'y' || c == 'p' || c == 't' || c == 'n' || c == 'k';
}

/* ---- C++: names ---- */

/* <abi-tags> */
static uint32_t ms_dmcxr_abi_tags(ms_dmcx *p, uint32_t base)
{
    while (base != 0 && ms_dmcx_eat(p, 'B')) {
        uint32_t tag = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        if (tag == 0)
            return 0;
        base = ms_dmcx_make_flagged(p, ms_DMCX_ABI_TAG, base, tag, ms_dmcx_flags_of(p, base));
    }
    return base;
}

/* <substitution> but not St (ABI 5.1.10) */
static uint32_t ms_dmcxr_substitution(ms_dmcx *p)
{
    if (!ms_dmcx_eat(p, 'S'))
        return 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = 0;
        switch (c) {
        case 'a': word = ms_DMCX_W_ALLOCATOR; break;
        case 'b': word = ms_DMCX_W_BASIC_STRING; break;
        case 's': word = ms_DMCX_W_STRING; break;
        case 'i': word = ms_DMCX_W_ISTREAM; break;
        case 'o': word = ms_DMCX_W_OSTREAM; break;
        case 'd': word = ms_DMCX_W_IOSTREAM; break;
        default: return 0;
        }
        p->at++;
        uint32_t tagged = ms_dmcxr_abi_tags(p, word);
        return tagged == word ? word : ms_dmcx_add_sub(p, tagged);
    }
    uint32_t index = 0;
    if (!ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_seq_id(p, &index) || !ms_dmcx_eat(p, '_'))
            return 0;
        index++;
    }
    return index < p->sub_count ? p->subs_end[-1 - (ptrdiff_t)index] : 0;
}

/* <module-name>s before an entity: W foo WP bar. Returns false when malformed. */
static bool ms_dmcxr_module(ms_dmcx *p, uint32_t *module)
{
    while (ms_dmcx_eat(p, 'W')) {
        uint32_t partition = ms_dmcx_eat(p, 'P');
        uint32_t name = ms_dmcx_source_name(p);
        uint32_t next = name == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_MODULE, *module, name, 0);
        if (ms_dmcx_add_sub(p, next) == 0)
            return false;
        ms_dmcx_at(p, next)->x = (uint8_t)partition;
        *module = next;
    }
    return true;
}

/* Where a constructor's scope is an abbreviation such as Ss or Si, the class is printed in full. */
static uint32_t ms_dmcxr_written_out(uint32_t scope)
{
    switch (scope) {
    case ms_DMCX_W_STRING: return ms_DMCX_W_FULL_STRING;
    case ms_DMCX_W_ISTREAM: return ms_DMCX_W_FULL_ISTREAM;
    case ms_DMCX_W_OSTREAM: return ms_DMCX_W_FULL_OSTREAM;
    case ms_DMCX_W_IOSTREAM: return ms_DMCX_W_FULL_IOSTREAM;
    default: return scope;
    }
}

/* A name within a name */
static uint32_t ms_dmcxr_inner_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t name = ms_dmcxr_name(p, state);
    p->d->depth--;
    return name;
}

/* <ctor-dtor-name> */
static uint32_t ms_dmcxr_ctor_dtor(ms_dmcx *p, uint32_t scope, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 1);
    if (ms_dmcx_eat(p, 'D')) {
        if (c < '0' || c > '5' || c == '3')
            return 0;
        p->at++;
        if (state != NULL)
            state->special = true;
        return ms_dmcx_make_of(p, ms_DMCX_DTOR, scope);
    }
    p->at++;
    bool inherited = ms_dmcx_eat(p, 'I');
    c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '5')
        return 0;
    p->at++;
    if (state != NULL)
        state->special = true;
    if (inherited && ms_dmcxr_inner_name(p, state) == 0)
        return 0;
    return ms_dmcx_make_of(p, ms_DMCX_CTOR, scope);
}

/* cv <type>: its parameters may stand for arguments that come after it. */
static uint32_t ms_dmcxr_conversion_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    bool try_args = p->try_args;
    bool permit_forward = p->permit_forward;
    p->try_args = false;
    p->permit_forward = permit_forward || state != NULL;
    uint32_t type = ms_dmcxr_type(p);
    p->try_args = try_args;
    p->permit_forward = permit_forward;
    if (state != NULL)
        state->special = true;
    return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, type);
}

/* <operator-name> */
static uint32_t ms_dmcxr_operator_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        if (op->kind == ms_DMCX_OP_CONVERT)
            return ms_dmcxr_conversion_name(p, state);
        if (op->kind > ms_DMCX_OP_NAME_ONLY)
            return 0;
        uint32_t ref = ms_dmcx_make(p, ms_DMCX_OPERATOR, 0, 0, 0);
        if (ref != 0)
            ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
        return ref;
    }
    if (ms_dmcx_eat2(p, 'l', 'i'))
        return ms_dmcx_make_of(p, ms_DMCX_LITERAL_OP, ms_dmcx_source_name(p));
    if (ms_dmcx_peek(p, 0) == 'v' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2; /* vendor's operator: v, number of operands, name */
        return ms_dmcx_make_of(p, ms_DMCX_CONVERSION, ms_dmcx_source_name(p));
    }
    return 0;
}

/* DC <source-name>+ E: a structured binding. */
static uint32_t ms_dmcxr_binding(ms_dmcx *p)
{
    ms_dmcx_cell names = ms_dmcx_empty();
    do {
        if (!ms_dmcx_append(p, &names, ms_dmcx_source_name(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make_of(p, ms_DMCX_BINDING, names.item);
}

/* <unqualified-name> in scope (0 = none) and module (0 = none); returns it with its scope. */
static uint32_t ms_dmcxr_unqualified(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, uint32_t module)
{
    bool is_friend = false;
    char c = ms_dmcx_peek(p, 0);
    if (c < '1' || c > '9') {
        if (!ms_dmcxr_module(p, &module))
            return 0;
        is_friend = scope != 0 && ms_dmcx_eat(p, 'F');
        ms_dmcx_eat(p, 'L');
        c = ms_dmcx_peek(p, 0);
    }
    uint32_t name;
    if (c >= '1' && c <= '9') {
        name = ms_dmcx_source_name(p);
    } else if (c == 'U') {
        name = ms_dmcxr_unnamed(p, state);
    } else if (ms_dmcx_eat2(p, 'D', 'C')) {
        name = ms_dmcxr_binding(p);
    } else if (c == 'C' || c == 'D') {
        if (scope == 0 || module != 0)
            return 0;
        scope = ms_dmcxr_written_out(scope);
        name = ms_dmcxr_ctor_dtor(p, scope, state);
    } else {
        name = ms_dmcxr_operator_name(p, state);
    }
    if (name != 0 && module != 0)
        name = ms_dmcx_make(p, ms_DMCX_IN_MODULE, module, name, 0);
    if (ms_dmcx_peek(p, 0) == 'B')
        name = ms_dmcxr_abi_tags(p, name);
    if (scope == 0)
        return name;
    return ms_dmcx_make_two(p, is_friend ? ms_DMCX_FRIEND : ms_DMCX_NESTED, scope, name);
}

/* <unscoped-name>; *is_sub tells whether it was a substitution, which in a name must be a template's. */
static uint32_t ms_dmcxr_unscoped(ms_dmcx *p, ms_dmcx_name_state *state, bool *is_sub)
{
    uint32_t scope = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : 0u;
    uint32_t module = 0;
    if (ms_dmcx_peek(p, 0) == 'S') {
        uint32_t sub = ms_dmcxr_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) == ms_DMCX_MODULE) {
            module = sub;
        } else if (scope == 0) {
            *is_sub = true;
            return sub;
        } else {
            return 0;
        }
    }
    return ms_dmcxr_unqualified(p, state, scope, module);
}

/* <CV-qualifiers> and <ref-qualifier>, or H, at the start of a nested name */
static void ms_dmcxr_member_quals(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (ms_dmcx_eat(p, 'H')) {
        if (state != NULL)
            state->explicit_object = true;
        return;
    }
    uint32_t quals = ms_dmcx_quals(p);
    uint32_t ref = ms_dmcx_eat(p, 'O') ? 2u : ms_dmcx_eat(p, 'R') ? 1u : 0u;
    if (state != NULL) {
        state->quals = (uint8_t)quals;
        state->ref = (uint8_t)ref;
    }
}

/* Dt or DT <expression> E */
static uint32_t ms_dmcxr_decltype(ms_dmcx *p)
{
    p->at += 2;
    uint32_t expr = ms_dmcxr_expr(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, expr, ms_DMCX_W_DECLTYPE_OF) : 0;
}

/* Reads one more component of a nested name. *is_new is false for a substitution, which is no new
 * candidate. */
static uint32_t ms_dmcxr_component(ms_dmcx *p, ms_dmcx_name_state *state, uint32_t scope, bool *is_new)
{
    char c = ms_dmcx_peek(p, 0);
    if (ms_dmcx_is_digit(c))
        return ms_dmcxr_unqualified(p, state, scope, 0);
    if (c == 'T')
        return scope != 0 ? 0 : ms_dmcxr_template_param(p);
    if (c == 'I') {
        if (scope == 0 || ms_dmcx_kind_of(p, scope) == ms_DMCX_TEMPLATE)
            return 0;
        uint32_t name = ms_dmcxr_template_args(p, scope, state != NULL);
        if (state != NULL)
            state->ends_with_args = true;
        return name;
    }
    if (c == 'D' && (ms_dmcx_peek(p, 1) == 't' || ms_dmcx_peek(p, 1) == 'T'))
        return scope != 0 ? 0 : ms_dmcxr_decltype(p);
    uint32_t module = 0;
    if (c == 'S') {
        uint32_t sub = ms_dmcx_eat2(p, 'S', 't') ? (uint32_t)ms_DMCX_W_STD : ms_dmcxr_substitution(p);
        if (sub == 0)
            return 0;
        if (ms_dmcx_kind_of(p, sub) != ms_DMCX_MODULE) {
            *is_new = false;
            return scope != 0 ? 0 : sub;
        }
        module = sub;
    }
    return ms_dmcxr_unqualified(p, state, scope, module);
}

/* <nested-name> */
static uint32_t ms_dmcxr_nested(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    ms_dmcxr_member_quals(p, state);
    uint32_t scope = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        bool is_new = true;
        if (state != NULL)
            state->ends_with_args = false;
        scope = ms_dmcxr_component(p, state, scope, &is_new);
        if (scope == 0)
            return 0;
        if (!is_new)
            continue;
        if (ms_dmcx_add_sub(p, scope) == 0)
            return 0;
        ms_dmcx_eat(p, 'M'); /* older ABIs marked the scope of a data member's initialiser */
    }
    if (scope == 0 || p->sub_count == 0)
        return 0;
    p->sub_count--; /* the whole name is a candidate only where it is a type; the reader of types adds it */
    if ((p->sub_count & 1u) == 0)
        p->limit++;
    return scope;
}

/* Reads a <discriminator>, which is not printed. Compilers also number names by digits without an
 * underscore at the end. */
static void ms_dmcxr_discriminator(ms_dmcx *p)
{
    uint32_t at = p->at;
    if (ms_dmcx_peek(p, 0) == '_' && ms_dmcx_is_digit(ms_dmcx_peek(p, 1))) {
        p->at += 2;
        return;
    }
    bool wide = ms_dmcx_peek(p, 0) == '_' && ms_dmcx_peek(p, 1) == '_';
    if (wide)
        p->at += 2;
    bool any = ms_dmcx_number(p, false).len != 0;
    if (wide ? !ms_dmcx_eat(p, '_') : !any || p->at != p->len)
        p->at = at;
}

/* <local-name> */
static uint32_t ms_dmcxr_local(ms_dmcx *p, ms_dmcx_name_state *state)
{
    p->at++;
    uint32_t encoding = ms_dmcxr_encoding(p);
    if (encoding == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    if (ms_dmcx_eat(p, 's')) {
        ms_dmcxr_discriminator(p);
        return ms_dmcx_make(p, ms_DMCX_LOCAL, encoding, ms_DMCX_W_STRING_LITERAL, 0);
    }
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t entity = 0;
    if (ms_dmcx_eat(p, 'd')) { /* in a default argument: its number, then the entity */
        ms_dmcx_number(p, true);
        if (ms_dmcx_eat(p, '_'))
            entity = ms_dmcxr_inner_name(p, state);
    } else {
        entity = ms_dmcxr_inner_name(p, state);
        ms_dmcxr_discriminator(p);
    }
    p->levels = levels;
    p->level_count = level_count;
    return ms_dmcx_make_two(p, ms_DMCX_LOCAL, encoding, entity);
}

/* Reads a <name>, and stores in state what the encoding needs to know. state is NULL for other names. This
 * adds no depth, because each reader of names within names does. */
static uint32_t ms_dmcxr_name(ms_dmcx *p, ms_dmcx_name_state *state)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'N')
        return ms_dmcxr_nested(p, state);
    if (c == 'Z')
        return ms_dmcxr_local(p, state);
    bool is_sub = false;
    uint32_t name = ms_dmcxr_unscoped(p, state, &is_sub);
    if (ms_dmcx_peek(p, 0) != 'I')
        return is_sub ? 0 : name;
    if (!is_sub && ms_dmcx_add_sub(p, name) == 0)
        return 0;
    if (state != NULL)
        state->ends_with_args = true;
    return ms_dmcxr_template_args(p, name, state != NULL);
}

/* ---- C++: unnamed types ---- */

/* Ul: the parameters of a lambda's operator(), explicit template parameters first. */
static uint32_t ms_dmcxr_closure_parts(ms_dmcx *p)
{
    uint32_t head = ms_dmcxr_push_level(p);
    if (head == 0)
        return 0;
    ms_dmcx_cell decls = ms_dmcx_empty();
    while (ms_dmcxr_at_param_decl(p)) {
        if (!ms_dmcx_append(p, &decls, ms_dmcxr_param_decl(p, &p->cells[head])))
            return 0;
    }
    if (decls.item == 0)
        ms_dmcxr_pop_level(p);
    uint32_t before = 0;
    if (ms_dmcx_eat(p, 'Q') && (before = ms_dmcxr_constraint_expr(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            if (!ms_dmcx_append(p, &params, ms_dmcxr_type(p)))
                return 0;
        } while (ms_dmcx_peek(p, 0) != 'E' && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t after = 0;
    if (ms_dmcx_eat(p, 'Q') && (after = ms_dmcxr_constraint_expr(p)) == 0)
        return 0;
    if (!ms_dmcx_eat(p, 'E'))
        return 0;
    ms_dmcx_span count = ms_dmcx_number(p, false);
    if (!ms_dmcx_eat(p, '_'))
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_CLOSURE_TAIL, before, after, ms_dmcx_make_text(p, count));
    return tail == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CLOSURE, decls.item, params.item, tail);
}

/* <unnamed-type-name>, <closure-type-name>, and blocks */
static uint32_t ms_dmcxr_unnamed(ms_dmcx *p, ms_dmcx_name_state *state)
{
    if (state != NULL) {
        p->levels = 0;
        p->level_count = 0;
    }
    if (ms_dmcx_eat2(p, 'U', 't')) {
        ms_dmcx_span count = ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_UNNAMED, count.off, count.len, 0) : 0;
    }
    if (ms_dmcx_eat2(p, 'U', 'b')) {
        ms_dmcx_number(p, false);
        return ms_dmcx_eat(p, '_') ? (uint32_t)ms_DMCX_W_BLOCK : 0u;
    }
    if (!ms_dmcx_eat2(p, 'U', 'l'))
        return 0;
    uint32_t auto_level = p->auto_level;
    uint32_t level_count = p->level_count;
    p->auto_level = level_count;
    uint32_t closure = ms_dmcxr_closure_parts(p);
    p->auto_level = auto_level;
    ms_dmcxr_pop_levels_to(p, level_count);
    return closure;
}

/* ---- C++: template arguments ---- */

static uint32_t ms_dmcxr_invented_name(ms_dmcx *p, uint32_t which, ms_dmcx_cell *params)
{
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_SYNTHETIC, p->invented[which]++, 0, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)which;
    return params != NULL && !ms_dmcx_append(p, params, ref) ? 0 : ref;
}

/* Tt <template-param-decl>* [Q <constraint>] E, after the name that was invented for it */
static uint32_t ms_dmcxr_template_decl(ms_dmcx *p, uint32_t name)
{
    uint32_t level_count = p->level_count;
    uint32_t head = ms_dmcxr_push_level(p);
    if (name == 0 || head == 0)
        return 0;
    ms_dmcx_cell inner = ms_dmcx_empty();
    uint32_t constraint = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &inner, ms_dmcxr_param_decl(p, &p->cells[head])))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        constraint = ms_dmcxr_constraint_expr(p);
        if (constraint == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    ms_dmcxr_pop_levels_to(p, level_count);
    uint32_t ref = ms_dmcx_make_flagged(p, ms_DMCX_DECL_TEMPLATE, name, inner.item, ms_DMCX_RIGHT);
    if (ref != 0)
        ms_dmcx_at(p, ref)->c = constraint;
    return ref;
}

/* <template-param-decl>; a name is invented and added to params (may be NULL). */
static uint32_t ms_dmcxr_param_decl(ms_dmcx *p, ms_dmcx_cell *params)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t kind = 0;
    uint32_t name = 0;
    uint32_t of = 0;
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'T', 'y')) {
        kind = ms_DMCX_DECL_TYPE;
        name = ms_dmcxr_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'k')) {
        kind = ms_DMCX_DECL_CONSTRAINED;
        of = ms_dmcxr_constraint_name(p);
        name = of == 0 ? 0 : ms_dmcxr_invented_name(p, 0, params);
    } else if (ms_dmcx_eat2(p, 'T', 'n')) {
        kind = ms_DMCX_DECL_VALUE;
        name = ms_dmcxr_invented_name(p, 1, params);
        of = name == 0 ? 0 : ms_dmcxr_type(p);
        name = of == 0 ? 0 : name;
    } else if (ms_dmcx_eat2(p, 'T', 't')) {
        ref = ms_dmcxr_template_decl(p, ms_dmcxr_invented_name(p, 2, params));
    } else if (ms_dmcx_eat2(p, 'T', 'p')) {
        kind = ms_DMCX_DECL_PACK;
        name = ms_dmcxr_param_decl(p, params);
    }
    if (name != 0)
        ref = ms_dmcx_make_flagged(p, kind, name, of, ms_DMCX_RIGHT);
    p->d->depth--;
    return ref;
}

/* J <template-arg>* E */
static uint32_t ms_dmcxr_arg_pack(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_cell args = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &args, ms_dmcxr_template_arg(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_ARG_PACK, args.item, 0, 0);
}

/* <template-arg> */
static uint32_t ms_dmcxr_template_arg(ms_dmcx *p)
{
    uint32_t ref = 0;
    switch (ms_dmcx_peek(p, 0)) {
    case 'X':
        p->at++;
        ref = ms_dmcxr_expr(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'L':
        if (ms_dmcx_peek(p, 1) != 'Z')
            return ms_dmcxr_expr(p);
        p->at += 2;
        ref = ms_dmcxr_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'J':
    case 'T':
        if (ms_dmcx_peek(p, 0) == 'T' && !ms_dmcxr_at_param_decl(p))
            return ms_dmcxr_type(p);
        if (!ms_dmcx_enter(p))
            return 0;
        if (ms_dmcx_peek(p, 0) == 'J')
            ref = ms_dmcxr_arg_pack(p);
        else if (ms_dmcxr_param_decl(p, NULL) != 0)
            ref = ms_dmcx_make_of(p, ms_DMCX_QUALIFIED_ARG, ms_dmcxr_template_arg(p));
        p->d->depth--;
        return ref;
    default: return ms_dmcxr_type(p);
    }
}

/* Reads the <template-args> of name. With tag, template parameters in the rest of the encoding refer to
 * them. */
static uint32_t ms_dmcxr_template_args(ms_dmcx *p, uint32_t name, bool tag)
{
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    ms_dmcx_cell *known = &args;
    if (tag) {
        p->levels = 0;
        p->level_count = 0;
        uint32_t head = ms_dmcxr_push_level(p);
        if (head == 0)
            return 0;
        known = &p->cells[head]; /* an argument may already use those before it */
    }
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, known, ms_dmcxr_template_arg(p)))
            return 0;
        if (!ms_dmcx_eat(p, 'Q'))
            continue;
        if (ms_dmcxr_constraint_expr(p) == 0 || !ms_dmcx_eat(p, 'E'))
            return 0;
        break;
    }
    return ms_dmcx_make(p, ms_DMCX_TEMPLATE, name, known->item, 0);
}

/* ---- C++: types ---- */

/* [DS] DA <size>, [DS] DR <size>: the fixed-point types of ISO/IEC TR 18037; 0 = it is another type. */
static uint32_t ms_dmcxr_fixed_point(ms_dmcx *p)
{
    uint32_t at = p->at;
    bool saturates = ms_dmcx_eat2(p, 'D', 'S');
    char type = ms_dmcx_peek(p, 1);
    uint32_t word = 0;
    if (ms_dmcx_peek(p, 0) == 'D' && (type == 'A' || type == 'R')) {
        switch (ms_dmcx_peek(p, 2)) {
        case 's': word = ms_DMCX_W_ACCUM_S; break;
        case 't': word = ms_DMCX_W_ACCUM_T; break;
        case 'i': word = ms_DMCX_W_ACCUM_I; break;
        case 'j': word = ms_DMCX_W_ACCUM_J; break;
        case 'l': word = ms_DMCX_W_ACCUM_L; break;
        case 'm': word = ms_DMCX_W_ACCUM_M; break;
        default: break;
        }
    }
    if (word == 0) {
        p->at = at;
        return 0;
    }
    p->at += 3;
    if (type == 'R')
        word += ms_DMCX_W_FRACT_S - ms_DMCX_W_ACCUM_S;
    if (saturates)
        word += ms_DMCX_W_SAT_ACCUM_S - ms_DMCX_W_ACCUM_S;
    return word;
}

/* <builtin-type>: a type that is no substitution candidate. 0 = it is not one. */
static uint32_t ms_dmcxr_builtin(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c >= 'a' && c <= 'z') {
        uint32_t word = ms_dmcx_builtins[c - 'a'];
        p->at += word != 0;
        return word;
    }
    if (c != 'D')
        return 0;
    uint32_t word = 0;
    switch (ms_dmcx_peek(p, 1)) {
    case 'd': word = ms_DMCX_W_DEC64; break;
    case 'e': word = ms_DMCX_W_DEC128; break;
    case 'f': word = ms_DMCX_W_DEC32; break;
    case 'h': word = ms_DMCX_W_HALF; break;
    case 'i': word = ms_DMCX_W_CHAR32; break;
    case 's': word = ms_DMCX_W_CHAR16; break;
    case 'u': word = ms_DMCX_W_CHAR8; break;
    case 'a': word = ms_DMCX_W_AUTO; break;
    case 'c': word = ms_DMCX_W_DECLTYPE_AUTO; break;
    case 'n': word = ms_DMCX_W_NULLPTR_T; break;
    case 'A':
    case 'R':
    case 'S': return ms_dmcxr_fixed_point(p);
    default: return 0;
    }
    p->at += 2;
    return word;
}

/* DF<n>_ */
static uint32_t ms_dmcxr_float_n(ms_dmcx *p)
{
    ms_dmcx_span width = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FLOAT_N, width.off, width.len, 0) : 0;
}

/* The size in DB<n>_, DB<expression>_, A<n>_, A<expression>_; 0 when malformed. */
static uint32_t ms_dmcxr_width(ms_dmcx *p)
{
    uint32_t width;
    if (!ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        width = ms_dmcxr_expr(p);
    else
        width = ms_dmcx_make_text(p, ms_dmcx_number(p, false));
    return ms_dmcx_eat(p, '_') ? width : 0;
}

/* Dv: a vector */
static uint32_t ms_dmcxr_vector(ms_dmcx *p)
{
    p->at += 2;
    uint32_t size = 0;
    char c = ms_dmcx_peek(p, 0);
    if (c >= '1' && c <= '9') {
        size = ms_dmcxr_width(p);
        if (size == 0)
            return 0;
        if (ms_dmcx_eat(p, 'p'))
            return ms_dmcx_make_of(p, ms_DMCX_PIXEL, size);
    } else if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcxr_expr(p);
        if (size == 0 || !ms_dmcx_eat(p, '_'))
            return 0;
    }
    uint32_t type = ms_dmcxr_type(p);
    return type == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_VECTOR, type, size, 0);
}

/* <exception-spec>; *ok is false when it is malformed, 0 is returned when there is none. */
static uint32_t ms_dmcxr_exception_spec(ms_dmcx *p, bool *ok)
{
    uint32_t ref = 0;
    if (ms_dmcx_eat2(p, 'D', 'o'))
        return ms_DMCX_W_NOEXCEPT;
    if (ms_dmcx_eat2(p, 'D', 'O')) {
        ref = ms_dmcx_make_of(p, ms_DMCX_NOEXCEPT_IF, ms_dmcxr_expr(p));
        *ok = ref != 0 && ms_dmcx_eat(p, 'E');
    } else if (ms_dmcx_eat2(p, 'D', 'w')) {
        ms_dmcx_cell types = ms_dmcx_empty();
        while (*ok && !ms_dmcx_eat(p, 'E'))
            *ok = ms_dmcx_append(p, &types, ms_dmcxr_type(p));
        ref = *ok ? ms_dmcx_make(p, ms_DMCX_THROW_LIST, types.item, 0, 0) : 0;
    }
    return ref;
}

/* <function-type> */
static uint32_t ms_dmcxr_function(ms_dmcx *p)
{
    uint32_t quals = ms_dmcx_quals(p);
    bool ok = true;
    uint32_t spec = ms_dmcxr_exception_spec(p, &ok);
    ms_dmcx_eat2(p, 'D', 'x'); /* transaction safe: not printed */
    if (!ok || !ms_dmcx_eat(p, 'F'))
        return 0;
    ms_dmcx_eat(p, 'Y'); /* extern "C": not printed */
    uint32_t result = ms_dmcxr_type(p);
    if (result == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    uint32_t ref_qual = 0;
    while (!ms_dmcx_eat(p, 'E')) {
        if (ms_dmcx_eat(p, 'v'))
            continue;
        ref_qual = ms_dmcx_eat2(p, 'R', 'E') ? 1u : ms_dmcx_eat2(p, 'O', 'E') ? 2u : 0u;
        if (ref_qual != 0)
            break;
        if (!ms_dmcx_append(p, &params, ms_dmcxr_type(p)))
            return 0;
    }
    uint32_t ref =
        ms_dmcx_make_flagged(p, ms_DMCX_FUNCTION, result, params.item, ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    n->c = spec;
    n->x = (uint8_t)quals;
    n->y = (uint8_t)ref_qual;
    return ref;
}

/* <array-type> */
static uint32_t ms_dmcxr_array(ms_dmcx *p)
{
    p->at++;
    uint32_t size = 0;
    if (!ms_dmcx_eat(p, '_')) {
        size = ms_dmcxr_width(p);
        if (size == 0)
            return 0;
    }
    uint32_t type = ms_dmcxr_type(p);
    if (type == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_ARRAY, type, size, ms_DMCX_RIGHT | ms_DMCX_IS_ARRAY);
}

/* U <source-name> [<template-args>] <type>: a vendor's qualifier, among them Objective-C's protocols, whose
 * own name is mangled inside that name. */
static uint32_t ms_dmcxr_vendor_qual(ms_dmcx *p)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_source_text(p);
    if (t.len >= 9 && ms_dmcx_starts(p, t.off, "objcproto", 9)) {
        uint32_t after = p->at;
        uint32_t len = p->len;
        p->at = t.off + 9;
        p->len = t.off + t.len;
        uint32_t proto = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
        p->at = after;
        p->len = len;
        uint32_t type = proto == 0 ? 0 : ms_dmcxr_qualified(p);
        return ms_dmcx_make_two(p, ms_DMCX_OBJC_PROTO, type, proto);
    }
    uint32_t name = ms_dmcx_make_text(p, t);
    if (name != 0 && ms_dmcx_peek(p, 0) == 'I')
        name = ms_dmcxr_template_args(p, name, false);
    uint32_t type = name == 0 ? 0 : ms_dmcxr_qualified(p);
    return ms_dmcx_make_two(p, ms_DMCX_VENDOR_QUAL, type, name);
}

/* <qualified-type>: only the outermost set of qualifiers is a substitution candidate. */
static uint32_t ms_dmcxr_qualified(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref;
    if (ms_dmcx_peek(p, 0) == 'U') {
        ref = ms_dmcxr_vendor_qual(p);
    } else {
        uint32_t quals = ms_dmcx_quals(p);
        ref = ms_dmcxr_type(p);
        if (quals != 0 && ref != 0) {
            uint32_t type = ref;
            ref = ms_dmcx_make_flagged(p, ms_DMCX_QUAL, type, 0, ms_dmcx_flags_of(p, type));
            if (ref != 0)
                ms_dmcx_at(p, ref)->x = (uint8_t)quals;
        }
    }
    p->d->depth--;
    return ref;
}

/* Whether the qualifiers at the reading position belong to a function type, as in a pointer to a const
 * member function. */
static bool ms_dmcxr_at_function(const ms_dmcx *p)
{
    uint32_t ahead = 0;
    ahead += ms_dmcx_peek(p, ahead) == 'r';
    ahead += ms_dmcx_peek(p, ahead) == 'V';
    ahead += ms_dmcx_peek(p, ahead) == 'K';
    char c = ms_dmcx_peek(p, ahead);
    if (c != 'D')
        return c == 'F';
    c = ms_dmcx_peek(p, ahead + 1);
    return c == 'o' || c == 'O' || c == 'w' || c == 'x';
}

/* <pointer-to-member-type> */
static uint32_t ms_dmcxr_member_pointer(ms_dmcx *p)
{
    p->at++;
    uint32_t scope = ms_dmcxr_type(p);
    uint32_t member = scope == 0 ? 0 : ms_dmcxr_type(p);
    if (member == 0)
        return 0;
    return ms_dmcx_make_flagged(p, ms_DMCX_MEMBER_PTR, scope, member, ms_dmcx_right_flags(p, member));
}

/* P, R, O */
static uint32_t ms_dmcxr_indirection(ms_dmcx *p, uint32_t kind, uint32_t x)
{
    p->at++;
    uint32_t type = ms_dmcxr_type(p);
    if (type == 0)
        return 0;
    uint32_t ref = ms_dmcx_make_flagged(p, kind, type, 0, ms_dmcx_right_flags(p, type));
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)x;
    return ref;
}

/* Types that begin with D and are not one word */
static uint32_t ms_dmcxr_d_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    switch (c) {
    case 'F':
        p->at += 2;
        if (ms_dmcx_eat_text(p, "16b", 3))
            return ms_DMCX_W_BFLOAT16;
        return ms_dmcxr_float_n(p);
    case 'B':
    case 'U': p->at += 2; return ms_dmcx_make_x(p, ms_DMCX_BIT_INT, ms_dmcxr_width(p), c == 'U');
    case 'k':
    case 'K':
        p->at += 2;
        return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcxr_name(p, NULL),
                              c == 'k' ? ms_DMCX_W_K_AUTO : ms_DMCX_W_K_DECLTYPE_AUTO);
    case 't':
    case 'T': return ms_dmcxr_decltype(p);
    case 'v': return ms_dmcxr_vector(p);
    case 'p': p->at += 2; return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcxr_type(p));
    case 'y': { /* an element of a pack of types */
        p->at += 2;
        uint32_t pack = ms_dmcxr_type(p);
        return pack == 0 ? 0 : ms_dmcx_make_two(p, ms_DMCX_PACK_INDEX, pack, ms_dmcxr_expr(p));
    }
    case 'o':
    case 'O':
    case 'w':
    case 'x': return ms_dmcxr_function(p);
    default: return 0;
    }
}

/* u <source-name> [I <type> E]: a vendor's type */
static uint32_t ms_dmcxr_vendor_type(ms_dmcx *p)
{
    p->at++;
    uint32_t name = ms_dmcx_make_text(p, ms_dmcx_source_text(p));
    if (name == 0 || !ms_dmcx_eat(p, 'I'))
        return name;
    uint32_t type = ms_dmcxr_type(p);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_TRANSFORM, name, type) : 0;
}

/* A class, union or enumeration; *is_new is false for a bare substitution. */
static uint32_t ms_dmcxr_class(ms_dmcx *p, bool *is_new)
{
    if (ms_dmcx_peek(p, 0) != 'S' || ms_dmcx_peek(p, 1) == 't')
        return ms_dmcxr_name(p, NULL);
    bool is_sub = false;
    uint32_t ref = ms_dmcxr_unscoped(p, NULL, &is_sub);
    if (ref == 0)
        return 0;
    if (ms_dmcx_peek(p, 0) == 'I' && (!is_sub || p->try_args)) {
        if (!is_sub && ms_dmcx_add_sub(p, ref) == 0)
            return 0;
        return ms_dmcxr_template_args(p, ref, false);
    }
    *is_new = !is_sub;
    return ref;
}

/* Ts, Tu, Te <name>, or a template parameter */
static uint32_t ms_dmcxr_t_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 1);
    if (c == 's' || c == 'u' || c == 'e') {
        p->at += 2;
        uint32_t word = c == 's' ? ms_DMCX_W_STRUCT : c == 'u' ? ms_DMCX_W_UNION : ms_DMCX_W_ENUM;
        return ms_dmcx_make_x(p, ms_DMCX_ELABORATED, ms_dmcxr_name(p, NULL), word);
    }
    uint32_t ref = ms_dmcxr_template_param(p);
    if (ref == 0 || !p->try_args || ms_dmcx_peek(p, 0) != 'I')
        return ref;
    return ms_dmcx_add_sub(p, ref) == 0 ? 0 : ms_dmcxr_template_args(p, ref, false);
}

/* A type that is more than a word; *is_new tells whether it is a substitution candidate. */
static uint32_t ms_dmcxr_compound(ms_dmcx *p, bool *is_new)
{
    switch (ms_dmcx_peek(p, 0)) {
    case 'r':
    case 'V':
    case 'K': return ms_dmcxr_at_function(p) ? ms_dmcxr_function(p) : ms_dmcxr_qualified(p);
    case 'U': return ms_dmcxr_qualified(p);
    case 'u': return ms_dmcxr_vendor_type(p);
    case 'D': {
        char c = ms_dmcx_peek(p, 1);
        *is_new = c != 'F' && c != 'k' && c != 'K';
        return ms_dmcxr_d_type(p);
    }
    case 'F': return ms_dmcxr_function(p);
    case 'A': return ms_dmcxr_array(p);
    case 'M': return ms_dmcxr_member_pointer(p);
    case 'T': return ms_dmcxr_t_type(p);
    case 'P': return ms_dmcxr_indirection(p, ms_DMCX_POINTER, 0);
    case 'R': return ms_dmcxr_indirection(p, ms_DMCX_REFERENCE, 1);
    case 'O': return ms_dmcxr_indirection(p, ms_DMCX_REFERENCE, 2);
    case 'C': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcxr_type(p), ms_DMCX_W_COMPLEX);
    case 'G': p->at++; return ms_dmcx_make_x(p, ms_DMCX_AFTER, ms_dmcxr_type(p), ms_DMCX_W_IMAGINARY);
    default: return ms_dmcxr_class(p, is_new);
    }
}

/* <type> */
static uint32_t ms_dmcxr_type(ms_dmcx *p)
{
    uint32_t ref = ms_dmcxr_builtin(p);
    if (ref != 0)
        return ref;
    if (!ms_dmcx_enter(p))
        return 0;
    bool is_new = true;
    ref = ms_dmcxr_compound(p, &is_new);
    if (is_new)
        ref = ms_dmcx_add_sub(p, ref);
    p->d->depth--;
    return ref;
}

/* ---- C++: expressions ---- */

/* <expression>* up to the byte end, which is read */
static bool ms_dmcxr_exprs(ms_dmcx *p, char end, ms_dmcx_cell *list)
{
    while (!ms_dmcx_eat(p, end)) {
        if (!ms_dmcx_append(p, list, ms_dmcxr_expr(p)))
            return false;
    }
    return true;
}

/* [n] <number> E of a literal whose type prints as word */
static uint32_t ms_dmcxr_integer(ms_dmcx *p, uint32_t word)
{
    p->at++;
    ms_dmcx_span t = ms_dmcx_number(p, true);
    if (t.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_INTEGER, t.off, t.len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = (uint8_t)word;
    return ref;
}

/* The bytes of a floating literal in hexadecimal, highest first. A long double is the x87's, on ARM a
 * double. */
static uint32_t ms_dmcxr_floating(ms_dmcx *p, char type)
{
    p->at++;
    uint32_t at = p->at;
    for (char c = ms_dmcx_peek(p, 0); ms_dmcx_is_digit(c) || (c >= 'a' && c <= 'f'); c = ms_dmcx_peek(p, 0))
        p->at++;
    uint32_t len = p->at - at;
    bool fits = type == 'f' ? len == 8 : len == 16 || (type == 'e' && len == 20);
    if (!fits || !ms_dmcx_eat(p, 'E'))
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_FLOATING, at, len, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = type == 'f' ? 'f' : type == 'e' ? 'L' : 0;
    return ref;
}

/* The word that an integer literal's type prints as, before or after it; W_COUNT = no integer type. */
static uint32_t ms_dmcxr_integer_word(char c)
{
    switch (c) {
    case 'w': return ms_DMCX_W_WCHAR;
    case 'c': return ms_DMCX_W_CHAR;
    case 'a': return ms_DMCX_W_SCHAR;
    case 'h': return ms_DMCX_W_UCHAR;
    case 's': return ms_DMCX_W_SHORT;
    case 't': return ms_DMCX_W_USHORT;
    case 'i': return ms_DMCX_W_NONE;
    case 'j': return ms_DMCX_W_SUFFIX_U;
    case 'l': return ms_DMCX_W_SUFFIX_L;
    case 'm': return ms_DMCX_W_SUFFIX_UL;
    case 'x': return ms_DMCX_W_SUFFIX_LL;
    case 'y': return ms_DMCX_W_SUFFIX_ULL;
    case 'n': return ms_DMCX_W_INT128;
    case 'o': return ms_DMCX_W_UINT128;
    default: return ms_DMCX_W_COUNT;
    }
}

/* <expr-primary> (ABI 5.1.6) */
static uint32_t ms_dmcxr_primary(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    uint32_t ref = ms_dmcxr_integer_word(c);
    if (ref != ms_DMCX_W_COUNT)
        return ms_dmcxr_integer(p, ref);
    switch (c) {
    case 'b':
        p->at++;
        if (ms_dmcx_eat2(p, '0', 'E'))
            return ms_DMCX_W_FALSE;
        return ms_dmcx_eat2(p, '1', 'E') ? (uint32_t)ms_DMCX_W_TRUE : 0u;
    case 'f':
    case 'd':
    case 'e': return ms_dmcxr_floating(p, c);
    case '_':
        if (!ms_dmcx_eat2(p, '_', 'Z'))
            return 0;
        ref = ms_dmcxr_encoding(p);
        return ms_dmcx_eat(p, 'E') ? ref : 0;
    case 'A':
        ref = ms_dmcxr_type(p);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_STRING_OF, ref) : 0;
    case 'D':
        if (!ms_dmcx_eat2(p, 'D', 'n'))
            return 0;
        ms_dmcx_eat(p, '0');
        return ms_dmcx_eat(p, 'E') ? (uint32_t)ms_DMCX_W_NULLPTR : 0u;
    case 'T': return 0;
    case 'U':
        if (ms_dmcx_peek(p, 1) != 'l')
            return 0;
        ref = ms_dmcxr_unnamed(p, NULL);
        return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_of(p, ms_DMCX_LAMBDA, ref) : 0;
    default: break;
    }
    uint32_t type = ms_dmcxr_type(p);
    ms_dmcx_span value = ms_dmcx_number(p, true);
    if (type == 0 || value.len == 0 || !ms_dmcx_eat(p, 'E'))
        return 0;
    return ms_dmcx_make(p, ms_DMCX_ENUM_VALUE, type, value.off, value.len);
}

/* <function-param>: fp and fL; qualifiers and scope are not printed. */
static uint32_t ms_dmcxr_function_param(ms_dmcx *p)
{
    if (ms_dmcx_eat_text(p, "fpT", 3))
        return ms_DMCX_W_THIS;
    if (!ms_dmcx_eat2(p, 'f', 'p')) {
        if (!ms_dmcx_eat2(p, 'f', 'L') || ms_dmcx_number(p, false).len == 0 || !ms_dmcx_eat(p, 'p'))
            return 0;
    }
    ms_dmcx_quals(p);
    ms_dmcx_span t = ms_dmcx_number(p, false);
    return ms_dmcx_eat(p, '_') ? ms_dmcx_make(p, ms_DMCX_FUNCTION_PARAM, t.off, t.len, 0) : 0;
}

/* fl, fr, fL, fR: a fold */
static uint32_t ms_dmcxr_fold(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    if (c != 'l' && c != 'r' && c != 'L' && c != 'R')
        return 0;
    p->at++;
    bool is_left = c == 'l' || c == 'L';
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op == NULL)
        return 0;
    bool is_member = op->kind == ms_DMCX_OP_ARROW || op->kind == ms_DMCX_OP_DOT;
    if (op->kind != ms_DMCX_OP_BINARY && !(is_member && op->prec == ms_DMCX_PTRMEM))
        return 0;
    uint32_t first = ms_dmcxr_expr(p);
    uint32_t second = 0;
    if (first == 0 || ((c == 'L' || c == 'R') && (second = ms_dmcxr_expr(p)) == 0))
        return 0;
    bool start_first = is_left && second != 0;
    uint32_t ref =
        ms_dmcx_make(p, ms_DMCX_FOLD, start_first ? second : first, start_first ? first : second, 0);
    if (ref == 0)
        return 0;
    ms_dmcx_at(p, ref)->x = (uint8_t)(op - ms_dmcx_ops);
    ms_dmcx_at(p, ref)->y = is_left;
    return ref;
}

/* <braced-expression> */
static uint32_t ms_dmcxr_braced(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) != 'd' || !ms_dmcx_enter(p))
        return ms_dmcxr_expr(p);
    uint32_t kind = 0;
    uint32_t first = 0;
    uint32_t last = 0;
    if (ms_dmcx_eat2(p, 'd', 'i')) {
        kind = ms_DMCX_FIELD_INIT;
        first = ms_dmcx_source_name(p);
    } else if (ms_dmcx_eat2(p, 'd', 'x')) {
        kind = ms_DMCX_INDEX_INIT;
        first = ms_dmcxr_expr(p);
    } else if (ms_dmcx_eat2(p, 'd', 'X')) {
        kind = ms_DMCX_RANGE_INIT;
        first = ms_dmcxr_expr(p);
        last = first == 0 ? 0 : ms_dmcxr_expr(p);
        first = last == 0 ? 0 : first;
    }
    uint32_t ref = 0;
    if (kind == 0) {
        ref = ms_dmcxr_expr(p);
    } else if (first != 0) {
        uint32_t value = ms_dmcxr_braced(p);
        bool is_range = kind == ms_DMCX_RANGE_INIT;
        ref = value == 0 ? 0 : ms_dmcx_make(p, kind, first, is_range ? last : value, is_range ? value : 0);
    }
    p->d->depth--;
    return ref;
}

/* <braced-expression>* E, initialising type (0 = none) */
static uint32_t ms_dmcxr_init_list(ms_dmcx *p, uint32_t type)
{
    ms_dmcx_cell values = ms_dmcx_empty();
    while (!ms_dmcx_eat(p, 'E')) {
        if (!ms_dmcx_append(p, &values, ms_dmcxr_braced(p)))
            return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_INIT_LIST, type, values.item, 0);
}

/* nw, na: <expression>* _ <type> [pi <expression>*] E */
static uint32_t ms_dmcxr_new(ms_dmcx *p)
{
    ms_dmcx_cell placement = ms_dmcx_empty();
    ms_dmcx_cell values = ms_dmcx_empty();
    if (!ms_dmcxr_exprs(p, '_', &placement))
        return 0;
    uint32_t type = ms_dmcxr_type(p);
    if (type == 0)
        return 0;
    if (ms_dmcx_eat2(p, 'p', 'i')) {
        if (!ms_dmcxr_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_eat(p, 'E')) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_NEW, placement.item, type, values.item);
}

/* cv <type> <expression>, cv <type> _ <expression>* E */
static uint32_t ms_dmcxr_convert(ms_dmcx *p)
{
    bool try_args = p->try_args;
    p->try_args = false;
    uint32_t type = ms_dmcxr_type(p);
    p->try_args = try_args;
    if (type == 0)
        return 0;
    ms_dmcx_cell values = ms_dmcx_empty();
    if (ms_dmcx_eat(p, '_')) {
        if (!ms_dmcxr_exprs(p, 'E', &values))
            return 0;
    } else if (!ms_dmcx_append(p, &values, ms_dmcxr_expr(p))) {
        return 0;
    }
    return ms_dmcx_make(p, ms_DMCX_CONVERT, type, values.item, 0);
}

/* The operands of an operator that was just read. */
static uint32_t ms_dmcxr_operands(ms_dmcx *p, const ms_dmcx_op *op)
{
    uint32_t a = 0;
    uint32_t b = 0;
    ms_dmcx_cell list = ms_dmcx_empty();
    switch (op->kind) {
    case ms_DMCX_OP_PREFIX: return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcxr_expr(p));
    case ms_DMCX_OP_POSTFIX:
        if (ms_dmcx_eat(p, '_'))
            return ms_dmcx_make_of(p, ms_DMCX_PREFIX, ms_dmcxr_expr(p));
        return ms_dmcx_make_of(p, ms_DMCX_POSTFIX_OP, ms_dmcxr_expr(p));
    case ms_DMCX_OP_BINARY:
    case ms_DMCX_OP_SUBSCRIPT:
    case ms_DMCX_OP_ARROW:
    case ms_DMCX_OP_DOT:
        a = ms_dmcxr_expr(p);
        b = a == 0 ? 0 : ms_dmcxr_expr(p);
        if (op->kind == ms_DMCX_OP_BINARY)
            return ms_dmcx_make_two(p, ms_DMCX_BINARY, a, b);
        return ms_dmcx_make_two(p, op->kind == ms_DMCX_OP_SUBSCRIPT ? ms_DMCX_SUBSCRIPT : ms_DMCX_MEMBER, a,
                                b);
    case ms_DMCX_OP_NEW:
    case ms_DMCX_OP_NEW_ARRAY: return ms_dmcxr_new(p);
    case ms_DMCX_OP_DELETE:
    case ms_DMCX_OP_DELETE_ARRAY: return ms_dmcx_make_of(p, ms_DMCX_DELETE, ms_dmcxr_expr(p));
    case ms_DMCX_OP_CALL:
    case ms_DMCX_OP_PAREN_CALL:
        a = ms_dmcxr_expr(p);
        if (a == 0 || !ms_dmcxr_exprs(p, 'E', &list))
            return 0;
        return ms_dmcx_make(p, ms_DMCX_CALL, a, list.item, 0);
    case ms_DMCX_OP_CONVERT: return ms_dmcxr_convert(p);
    case ms_DMCX_OP_CONDITIONAL:
        a = ms_dmcxr_expr(p);
        b = a == 0 ? 0 : ms_dmcxr_expr(p);
        if (b == 0)
            return 0;
        list.item = ms_dmcxr_expr(p);
        return list.item == 0 ? 0 : ms_dmcx_make(p, ms_DMCX_CHOICE, a, b, list.item);
    case ms_DMCX_OP_NAMED_CAST:
        a = ms_dmcxr_type(p);
        return ms_dmcx_make_two(p, ms_DMCX_NAMED_CAST, a, a == 0 ? 0 : ms_dmcxr_expr(p));
    case ms_DMCX_OP_OF_TYPE: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcxr_type(p));
    case ms_DMCX_OP_OF_EXPR: return ms_dmcx_make_of(p, ms_DMCX_OF, ms_dmcxr_expr(p));
    default: return 0;
    }
}

/* so: <type> <expression> [<number>] (_ [<number>])* [p] E; the union members chosen are not printed. */
static uint32_t ms_dmcxr_subobject(ms_dmcx *p)
{
    uint32_t type = ms_dmcxr_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcxr_expr(p);
    if (of == 0)
        return 0;
    uint32_t offset = ms_dmcx_make_text(p, ms_dmcx_number(p, true));
    while (ms_dmcx_eat(p, '_'))
        ms_dmcx_number(p, false);
    ms_dmcx_eat(p, 'p');
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make(p, ms_DMCX_SUBOBJECT, type, of, offset) : 0;
}

/* mc: <type> <expression> [<number>] E */
static uint32_t ms_dmcxr_member_convert(ms_dmcx *p)
{
    uint32_t type = ms_dmcxr_type(p);
    uint32_t of = type == 0 ? 0 : ms_dmcxr_expr(p);
    ms_dmcx_number(p, true);
    return ms_dmcx_eat(p, 'E') ? ms_dmcx_make_two(p, ms_DMCX_MEMBER_CONVERT, type, of) : 0;
}

/* sZ: the size of a parameter pack, or of a function's */
static uint32_t ms_dmcxr_sizeof_pack(ms_dmcx *p)
{
    if (ms_dmcx_peek(p, 0) == 'T')
        return ms_dmcx_make_of(p, ms_DMCX_SIZEOF_PARAM_PACK, ms_dmcxr_template_param(p));
    return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcxr_function_param(p), ms_DMCX_W_SIZEOF_PACK);
}

/* u <source-name> <template-arg>* E: a vendor's expression. Older compilers gave __uuidof one operand and
 * no E. */
static uint32_t ms_dmcxr_vendor_expr(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    if (name == 0)
        return 0;
    ms_dmcx_cell args = ms_dmcx_empty();
    bool is_uuid = ms_dmcx_is_text(p, name, "__uuidof", 8);
    if (is_uuid && ms_dmcx_eat(p, 't')) {
        if (!ms_dmcx_append(p, &args, ms_dmcxr_type(p)))
            return 0;
    } else if (is_uuid && ms_dmcx_eat(p, 'z')) {
        if (!ms_dmcx_append(p, &args, ms_dmcxr_expr(p)))
            return 0;
    } else {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcxr_template_arg(p)))
                return 0;
        }
    }
    return ms_dmcx_make(p, ms_DMCX_CALL, name, args.item, 0);
}

/* <requirement> */
static uint32_t ms_dmcxr_requirement(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'T'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_TYPE, ms_dmcxr_type(p));
    if (ms_dmcx_eat(p, 'Q'))
        return ms_dmcx_make_of(p, ms_DMCX_REQUIRE_NESTED, ms_dmcxr_expr(p));
    if (!ms_dmcx_eat(p, 'X'))
        return 0;
    uint32_t expr = ms_dmcxr_expr(p);
    if (expr == 0)
        return 0;
    bool is_noexcept = ms_dmcx_eat(p, 'N');
    uint32_t type = 0;
    if (ms_dmcx_eat(p, 'R') && (type = ms_dmcxr_name(p, NULL)) == 0)
        return 0;
    uint32_t ref = ms_dmcx_make(p, ms_DMCX_REQUIRE_EXPR, expr, type, 0);
    if (ref != 0)
        ms_dmcx_at(p, ref)->x = is_noexcept;
    return ref;
}

/* rq <requirement>+ E, rQ <type>* _ <requirement>+ E */
static uint32_t ms_dmcxr_requires(ms_dmcx *p, bool has_params)
{
    ms_dmcx_cell params = ms_dmcx_empty();
    ms_dmcx_cell list = ms_dmcx_empty();
    while (has_params && !ms_dmcx_eat(p, '_')) {
        if (!ms_dmcx_append(p, &params, ms_dmcxr_type(p)))
            return 0;
    }
    do {
        if (!ms_dmcx_append(p, &list, ms_dmcxr_requirement(p)))
            return 0;
    } while (!ms_dmcx_eat(p, 'E'));
    return ms_dmcx_make(p, ms_DMCX_REQUIRES, params.item, list.item, 0);
}

/* ---- C++: unresolved names ---- */

/* <simple-id> */
static uint32_t ms_dmcxr_simple_id(ms_dmcx *p)
{
    uint32_t name = ms_dmcx_source_name(p);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcxr_template_args(p, name, false) : name;
}

/* <unresolved-type> */
static uint32_t ms_dmcxr_unresolved_type(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcx_add_sub(p, ms_dmcxr_template_param(p));
    if (c != 'D')
        return ms_dmcxr_substitution(p);
    c = ms_dmcx_peek(p, 1);
    return c == 't' || c == 'T' ? ms_dmcx_add_sub(p, ms_dmcxr_decltype(p)) : 0;
}

/* <unresolved-type> [<template-args>] */
static uint32_t ms_dmcxr_unresolved_scope(ms_dmcx *p)
{
    uint32_t type = ms_dmcxr_unresolved_type(p);
    return type != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcxr_template_args(p, type, false) : type;
}

/* <base-unresolved-name> */
static uint32_t ms_dmcxr_unresolved_base(ms_dmcx *p)
{
    if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0)))
        return ms_dmcxr_simple_id(p);
    if (ms_dmcx_eat2(p, 'd', 'n')) {
        bool is_name = ms_dmcx_is_digit(ms_dmcx_peek(p, 0));
        return ms_dmcx_make_of(p, ms_DMCX_DTOR_NAME,
                               is_name ? ms_dmcxr_simple_id(p) : ms_dmcxr_unresolved_type(p));
    }
    ms_dmcx_eat2(p, 'o', 'n');
    uint32_t name = ms_dmcxr_operator_name(p, NULL);
    return name != 0 && ms_dmcx_peek(p, 0) == 'I' ? ms_dmcxr_template_args(p, name, false) : name;
}

/* <simple-id>* E, below scope (0 = none) */
static uint32_t ms_dmcxr_unresolved_levels(ms_dmcx *p, uint32_t scope)
{
    while (!ms_dmcx_eat(p, 'E')) {
        uint32_t id = ms_dmcxr_simple_id(p);
        if (id == 0)
            return 0;
        scope = scope == 0 ? id : ms_dmcx_make(p, ms_DMCX_QUALIFIED, scope, id, 0);
    }
    return scope;
}

/* <unresolved-name> */
static uint32_t ms_dmcxr_unresolved(ms_dmcx *p, bool is_global)
{
    uint32_t scope = 0;
    if (ms_dmcx_eat_text(p, "srN", 3)) {
        scope = ms_dmcxr_unresolved_scope(p);
        scope = scope == 0 ? 0 : ms_dmcxr_unresolved_levels(p, scope);
    } else if (!ms_dmcx_eat2(p, 's', 'r')) {
        uint32_t name = ms_dmcxr_unresolved_base(p);
        return is_global ? ms_dmcx_make_of(p, ms_DMCX_GLOBAL, name) : name;
    } else if (ms_dmcx_is_digit(ms_dmcx_peek(p, 0))) {
        scope = ms_dmcxr_simple_id(p);
        if (is_global)
            scope = ms_dmcx_make_of(p, ms_DMCX_GLOBAL, scope);
        scope = scope == 0 ? 0 : ms_dmcxr_unresolved_levels(p, scope);
    } else {
        scope = ms_dmcxr_unresolved_scope(p);
    }
    return scope == 0 ? 0 : ms_dmcx_make_two(p, ms_DMCX_QUALIFIED, scope, ms_dmcxr_unresolved_base(p));
}

/* Reads an expression that two letters mark but that is no operator. *found tells whether there was one. */
static uint32_t ms_dmcxr_marked(ms_dmcx *p, bool *found)
{
    *found = true;
    if (ms_dmcx_eat2(p, 'i', 'l'))
        return ms_dmcxr_init_list(p, 0);
    if (ms_dmcx_eat2(p, 'm', 'c'))
        return ms_dmcxr_member_convert(p);
    if (ms_dmcx_eat2(p, 'n', 'x'))
        return ms_dmcx_make_x(p, ms_DMCX_ENCLOSED, ms_dmcxr_expr(p), ms_DMCX_W_NOEXCEPT_OF);
    if (ms_dmcx_eat2(p, 's', 'o'))
        return ms_dmcxr_subobject(p);
    if (ms_dmcx_eat2(p, 's', 'p'))
        return ms_dmcx_make_of(p, ms_DMCX_EXPANSION, ms_dmcxr_expr(p));
    if (ms_dmcx_eat2(p, 's', 'y')) { /* an element of a pack */
        uint32_t pack = ms_dmcxr_expr(p);
        return pack == 0 ? 0 : ms_dmcx_make_two(p, ms_DMCX_PACK_INDEX, pack, ms_dmcxr_expr(p));
    }
    if (ms_dmcx_eat2(p, 's', 'Z'))
        return ms_dmcxr_sizeof_pack(p);
    if (ms_dmcx_eat2(p, 's', 'P')) {
        ms_dmcx_cell args = ms_dmcx_empty();
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &args, ms_dmcxr_template_arg(p)))
                return 0;
        }
        return ms_dmcx_make(p, ms_DMCX_SIZEOF_ARGS, args.item, 0, 0);
    }
    if (ms_dmcx_eat2(p, 't', 'l')) {
        uint32_t type = ms_dmcxr_type(p);
        return type == 0 ? 0 : ms_dmcxr_init_list(p, type);
    }
    if (ms_dmcx_eat2(p, 't', 'r'))
        return ms_DMCX_W_THROW;
    if (ms_dmcx_eat2(p, 't', 'w'))
        return ms_dmcx_make_of(p, ms_DMCX_THROW, ms_dmcxr_expr(p));
    if (ms_dmcx_eat2(p, 'r', 'q'))
        return ms_dmcxr_requires(p, false);
    if (ms_dmcx_eat2(p, 'r', 'Q'))
        return ms_dmcxr_requires(p, true);
    *found = false;
    return 0;
}

static uint32_t ms_dmcxr_expr_inside(ms_dmcx *p)
{
    bool is_global = ms_dmcx_eat2(p, 'g', 's');
    const ms_dmcx_op *op = ms_dmcx_operator(p);
    if (op != NULL) {
        uint32_t ref = ms_dmcxr_operands(p, op);
        if (ref == 0)
            return 0;
        ms_dmcx_node *n = ms_dmcx_at(p, ref);
        n->x = (uint8_t)(op - ms_dmcx_ops);
        n->y = is_global;
        return ref;
    }
    if (p->len - p->at < 2)
        return 0;
    switch (p->s[p->at]) {
    case 'L': return ms_dmcxr_primary(p);
    case 'T': return ms_dmcxr_template_param(p);
    case 'f':
        if (ms_dmcx_peek(p, 1) == 'p' || (ms_dmcx_peek(p, 1) == 'L' && ms_dmcx_is_digit(ms_dmcx_peek(p, 2))))
            return ms_dmcxr_function_param(p);
        return ms_dmcxr_fold(p);
    case 'u': p->at++; return ms_dmcxr_vendor_expr(p);
    default: break;
    }
    bool found;
    uint32_t ref = ms_dmcxr_marked(p, &found);
    return found ? ref : ms_dmcxr_unresolved(p, is_global);
}

/* <expression> (ABI 5.1.6) */
static uint32_t ms_dmcxr_expr(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t ref = ms_dmcxr_expr_inside(p);
    p->d->depth--;
    return ref;
}

/* ---- C++: encodings ---- */

/* <call-offset>: not printed */
static bool ms_dmcxr_call_offset(ms_dmcx *p)
{
    if (ms_dmcx_eat(p, 'h'))
        return ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
    return ms_dmcx_eat(p, 'v') && ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_') &&
           ms_dmcx_number(p, true).len != 0 && ms_dmcx_eat(p, '_');
}

static uint32_t ms_dmcxr_special_name(ms_dmcx *p, uint32_t child, uint32_t word)
{
    return ms_dmcx_make_x(p, ms_DMCX_SPECIAL, child, word);
}

/* TC <type> <offset> _ <base type> */
static uint32_t ms_dmcxr_ctor_vtable(ms_dmcx *p)
{
    uint32_t type = ms_dmcxr_type(p);
    if (type == 0 || ms_dmcx_number(p, true).len == 0 || !ms_dmcx_eat(p, '_'))
        return 0;
    return ms_dmcx_make_two(p, ms_DMCX_CTOR_VTABLE, ms_dmcxr_type(p), type);
}

/* <special-name> that begins with T */
static uint32_t ms_dmcxr_special_t(ms_dmcx *p)
{
    p->at++;
    char c = ms_dmcx_peek(p, 0);
    p->at += c != '\0';
    switch (c) {
    case 'A': return ms_dmcxr_special_name(p, ms_dmcxr_template_arg(p), ms_DMCX_W_PARAM_OBJECT);
    case 'V': return ms_dmcxr_special_name(p, ms_dmcxr_type(p), ms_DMCX_W_VTABLE);
    case 'T': return ms_dmcxr_special_name(p, ms_dmcxr_type(p), ms_DMCX_W_VTT);
    case 'I': return ms_dmcxr_special_name(p, ms_dmcxr_type(p), ms_DMCX_W_TYPEINFO);
    case 'S': return ms_dmcxr_special_name(p, ms_dmcxr_type(p), ms_DMCX_W_TYPEINFO_NAME);
    case 'c':
        if (!ms_dmcxr_call_offset(p) || !ms_dmcxr_call_offset(p))
            return 0;
        return ms_dmcxr_special_name(p, ms_dmcxr_encoding(p), ms_DMCX_W_COVARIANT);
    case 'C': return ms_dmcxr_ctor_vtable(p);
    case 'W': return ms_dmcxr_special_name(p, ms_dmcxr_name(p, NULL), ms_DMCX_W_TLS_WRAPPER);
    case 'H': return ms_dmcxr_special_name(p, ms_dmcxr_name(p, NULL), ms_DMCX_W_TLS_INIT);
    default: break;
    }
    p->at -= c != '\0';
    if (!ms_dmcxr_call_offset(p))
        return 0;
    return ms_dmcxr_special_name(p, ms_dmcxr_encoding(p),
                                 c == 'v' ? ms_DMCX_W_VIRTUAL_THUNK : ms_DMCX_W_THUNK);
}

/* <special-name> that begins with G */
static uint32_t ms_dmcxr_special_g(ms_dmcx *p)
{
    uint32_t name = 0;
    if (ms_dmcx_eat2(p, 'G', 'V'))
        return ms_dmcxr_special_name(p, ms_dmcxr_name(p, NULL), ms_DMCX_W_GUARD);
    if (ms_dmcx_eat2(p, 'G', 'R')) {
        name = ms_dmcxr_name(p, NULL);
        uint32_t id;
        bool has_id = ms_dmcx_seq_id(p, &id);
        if (!ms_dmcx_eat(p, '_') && has_id)
            return 0;
        return ms_dmcxr_special_name(p, name, ms_DMCX_W_REF_TEMP);
    }
    if (ms_dmcx_eat2(p, 'G', 'I') && ms_dmcxr_module(p, &name))
        return ms_dmcxr_special_name(p, name, ms_DMCX_W_MODULE_INIT);
    return 0;
}

/* Whether the encoding ends here. No type begins with one of these bytes. */
static bool ms_dmcxr_at_end(const ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    return p->at == p->len || c == 'E' || c == '.' || c == '_';
}

/* The parameters, conditions and constraint of a function; its name is known. */
static uint32_t ms_dmcxr_bare_function(ms_dmcx *p, const ms_dmcx_name_state *state, uint32_t name)
{
    ms_dmcx_cell conditions = ms_dmcx_empty();
    bool is_conditional = ms_dmcx_eat_text(p, "Ua9enable_ifI", 13);
    if (is_conditional) {
        while (!ms_dmcx_eat(p, 'E')) {
            if (!ms_dmcx_append(p, &conditions, ms_dmcxr_template_arg(p)))
                return 0;
        }
    }
    uint32_t result = 0;
    if (!state->special && state->ends_with_args && (result = ms_dmcxr_type(p)) == 0)
        return 0;
    ms_dmcx_cell params = ms_dmcx_empty();
    if (!ms_dmcx_eat(p, 'v')) {
        do {
            uint32_t type = ms_dmcxr_type(p);
            if (state->explicit_object && params.item == 0)
                type = ms_dmcx_make_of(p, ms_DMCX_THIS_PARAM, type);
            if (!ms_dmcx_append(p, &params, type))
                return 0;
        } while (!ms_dmcxr_at_end(p) && ms_dmcx_peek(p, 0) != 'Q');
    }
    uint32_t constraint = 0;
    if (ms_dmcx_eat(p, 'Q') && (constraint = ms_dmcxr_constraint_expr(p)) == 0)
        return 0;
    uint32_t tail = ms_dmcx_make(p, ms_DMCX_ENCODING_TAIL, params.item, conditions.item, constraint);
    uint32_t flags = ms_DMCX_RIGHT | ms_DMCX_IS_FUNCTION;
    uint32_t ref = tail == 0 ? 0 : ms_dmcx_make_flagged(p, ms_DMCX_ENCODING, result, name, flags);
    if (ref == 0)
        return 0;
    ms_dmcx_node *n = ms_dmcx_at(p, ref);
    ms_dmcx_at(p, tail)->x = is_conditional;
    n->c = tail;
    n->x = state->quals;
    n->y = state->ref;
    return ref;
}

static uint32_t ms_dmcxr_encoding_inside(ms_dmcx *p)
{
    char c = ms_dmcx_peek(p, 0);
    if (c == 'T')
        return ms_dmcxr_special_t(p);
    if (c == 'G')
        return ms_dmcxr_special_g(p);
    ms_dmcx_name_state state;
    ms_zero(&state, sizeof(state));
    state.forward = p->forward;
    uint32_t name = ms_dmcxr_name(p, &state);
    if (name == 0 || !ms_dmcxr_resolve_forward(p, state.forward))
        return 0;
    return ms_dmcxr_at_end(p) ? name : ms_dmcxr_bare_function(p, &state, name);
}

/* <encoding>; template parameters in it are its own. */
static uint32_t ms_dmcxr_encoding(ms_dmcx *p)
{
    if (!ms_dmcx_enter(p))
        return 0;
    uint32_t levels = p->levels;
    uint32_t level_count = p->level_count;
    p->levels = 0;
    p->level_count = 0;
    uint32_t ref = ms_dmcxr_encoding_inside(p);
    p->levels = levels;
    p->level_count = level_count;
    p->d->depth--;
    return ref;
}

/* The length of what clang puts in front of names of functions that allocate by the type's token:
 * `__alloc_token_`, perhaps with a number and `_`. */
static size_t ms_dmcxr_alloc_token(const char *s, size_t len)
{
    if (len < 14 || !ms_equal(s, "__alloc_token_", 14))
        return 0;
    size_t at = 14;
    while (at < len && s[at] >= '0' && s[at] <= '9')
        at++;
    return at == 14 || at == len || s[at] != '_' ? 14 : at + 1;
}

/* The whole name; 0 when it is malformed. */
static uint32_t ms_dmcxr_mangled(ms_dmcx *p)
{
    uint32_t token = (uint32_t)ms_dmcxr_alloc_token(p->s, p->len);
    p->at = token;
    while (ms_dmcx_eat(p, '_'))
        continue;
    bool is_block = p->at - token >= 3;
    p->at++;
    uint32_t ref = is_block && token != 0 ? 0 : ms_dmcxr_encoding(p);
    if (ref == 0)
        return 0;
    if (is_block) {
        if (!ms_dmcx_eat_text(p, "_block_invoke", 13))
            return 0;
        bool needs_number = ms_dmcx_eat(p, '_');
        if (ms_dmcx_number(p, false).len == 0 && needs_number)
            return 0;
        if (ms_dmcx_peek(p, 0) != '.' && p->at != p->len)
            return 0;
        return ms_dmcxr_special_name(p, ref, ms_DMCX_W_BLOCK_INVOKE);
    }
    if (ms_dmcx_peek(p, 0) == '.') {
        ms_dmcx_span t;
        t.off = p->at;
        t.len = p->len - p->at;
        p->at = p->len;
        ref = ms_dmcx_make_two(p, ms_DMCX_DOT_SUFFIX, ref, ms_dmcx_make_text(p, t));
    }
    if (p->at != p->len || token == 0)
        return p->at == p->len ? ref : 0;
    return ms_dmcx_make_two(p, ms_DMCX_DOT_SUFFIX, ref, ms_DMCX_W_ALLOC_TOKEN);
}

#endif /* MACHSYM_NO_CXX */

#endif /* ms_ROOM_names_cxx_reader */
