/* See map_budget.h. */
#include "map_budget.h"
#include "../base/say.h"

map_budget budget_of(const symbol_file *file, unsigned times)
{
    machsym_map_info info;
    machsym_map_get_info(file->map, &info);
    uint64_t most = times * (MAP_TEXT + MAP_TEXT_PER_BYTE * info.size);
    return (map_budget){file->info.path, info.size, most, most, false};
}

bool budget_spend(map_budget *b, uint64_t bytes)
{
    if (!b->is_spent && bytes > b->left)
        say_message(
            "%s: refused: more than %llu bytes of text would be made of a map of %llu bytes, and no real map "
            "needs as many; ask atos for single addresses",
            b->path, (unsigned long long)b->most, (unsigned long long)b->size);
    b->is_spent = b->is_spent || bytes > b->left;
    b->left -= b->is_spent ? b->left : bytes;
    return !b->is_spent;
}

uint64_t budget_frames_cost(const machsym_frame *frames, size_t count)
{
    uint64_t cost = MAP_FRAME_TEXT;
    for (size_t i = 0; i < count; i++) {
        const machsym_path *file = &frames[i].file;
        cost += MAP_FRAME_TEXT + frames[i].linkage_name.len + frames[i].name.len;
        cost += file->comp_dir.len + file->dir.len + file->name.len;
    }
    return cost;
}

size_t budget_frames(map_budget *b, symbol_source *source, uint64_t addr, machsym_frame *frames)
{
    size_t count = b->is_spent ? 0 : symbol_source_frames(source, addr, frames, MAP_MAX_FRAMES);
    return budget_spend(b, budget_frames_cost(frames, count)) ? count : 0;
}
