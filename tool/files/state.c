/* See state.h. */
#include "state.h"
#include "../../report/base/text.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool state_sum_of(const char *path, uint64_t *sum)
{
    text t = {0};
    bool ok = file_read(&t, path) == NULL;
    *sum = str_hash(str_make(t.v, t.len));
    text_free(&t);
    return ok;
}

state_place state_look_at(const char *path)
{
    state_place place = {path, PLACE_OTHER, 0};
    struct stat st;
    if (strcmp(path, "-") == 0)
        return place;
    if (lstat(path, &st) != 0)
        place.kind = PLACE_FREE;
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && state_sum_of(path, &place.sum))
        place.kind = PLACE_FILE;
    return place;
}

/* The new file is begun ahead of the lock: what killed runs left beside it is removed then, and may be a
 * second name of the file that is held. Of two runs that get here at once one replaces the state, and the
 * other one sees that it is another than it was. */
static int state_replace(const state_place *place, const text *out)
{
    outfile file;
    uint64_t sum = 0;
    outfile_begin_with(&file, place->path, out->v, out->len,
                       place->kind == PLACE_FREE ? OUTFILE_KEEP : OUTFILE_REPLACE);
    int held = place->kind == PLACE_FILE ? posix_hold_file(place->path) : -1;
    bool is_ours = held >= 0 && state_sum_of(place->path, &sum) && sum == place->sum;
    if (place->kind == PLACE_FILE && !is_ours && file.failure == 0)
        file.failure = EEXIST;
    outfile_end_all(&file, 1);
    if (held >= 0)
        close(held);
    return file.failure;
}

bool state_write(const group_list *groups, const state_place *place)
{
    text out = {0};
    uint64_t sum = 0;
    groups_put_state(groups, &out);
    int failure = state_replace(place, &out);
    /* runs that begin anew over the same reports write the same */
    if (failure == EEXIST && !groups_has_state(groups) && state_sum_of(place->path, &sum) &&
        sum == str_hash(str_make(out.v, out.len)))
        failure = 0;
    if (failure == EEXIST)
        say_message(
            "%s: another run has written it since this one began; it stays, without the reports of this "
            "run, which is to be run again",
            place->path);
    else if (failure != 0)
        say_message("%s: %s", place->path, outfile_error(failure));
    text_free(&out);
    return failure == 0;
}

bool state_read(group_list *groups, const char *path)
{
    text input = {0};
    size_t at = 0;
    const char *why = file_read_words(&input, path);
    if (why == NULL)
        why = groups_take_state(groups, str_make(input.v, input.len), &at);
    if (why != NULL && input.len == 0)
        say_message("%s: %s", path, why);
    else if (why != NULL)
        say_message("%s: %s, at byte %zu; take an older copy, or begin anew without --groups-in", path, why,
                    at);
    text_free(&input);
    return why == NULL;
}
