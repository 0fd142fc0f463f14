/* Makes size and checksums of a damaged map right again, so that the damage gets as far as lookups. */
#ifndef MACHSYM_REPAIR_H
#define MACHSYM_REPAIR_H

static inline void repair_map(uint8_t *bytes, size_t len)
{
    if (len < ms_MAP_HEAD)
        return;
    ms_map_store_u64(bytes + 64, len);
    uint64_t rows = ms_rd_raw_u32(bytes + 60);
    if (rows > (len - ms_MAP_HEAD) / ms_MAP_ROW)
        return;
    ms_span all = ms_span_make(bytes, len);
    for (uint8_t *row = bytes + ms_MAP_HEAD; row < bytes + ms_MAP_HEAD + rows * ms_MAP_ROW;
         row += ms_MAP_ROW) {
        uint64_t at = ms_rd_raw_u64(row + 8);
        ms_span sums = ms_span_sub(all, at, ms_rd_raw_u64(row + 16));
        if (ms_rd_raw_u32(row) != ms_MAP_PAGES || sums.len == 0)
            continue;
        ms_span pages = ms_span_from(all, at + sums.len);
        for (uint64_t i = 0; i < sums.len / 8 && i * ms_PG_BYTES < pages.len; i++)
            ms_map_store_u64(bytes + at + 8 * i, ms_pg_sum_at(pages, i));
        ms_map_store_u64(row + 24, ms_pg_sum(sums));
    }
    ms_map_store_u64(bytes + 72, ms_map_sum_head(all, (uint32_t)rows));
}

#endif
