/* Lookups of a map in process: lookups MAP ADDRESSES. Prints "MEAN MEDIAN P99 BATCH FRAMES": seconds a
 * lookup on average, at the median and at the 99th percentile, once the map is in the cache, lookups a
 * second when they are asked in batches, and how many frames an answer has. The mean is processor time,
 * the best of some rounds; for the percentiles each lookup is timed, and what the clock takes is
 * subtracted. */
#define MACHSYM_IMPLEMENTATION
#include "../machsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1 << 20, ROUNDS = 10, FRAMES = 64, BATCH = 64 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns how many frames all answers have. */
static size_t look_up_all(const machsym_map *map, const uint64_t *addrs, size_t count)
{
    machsym_map_frame frames[FRAMES];
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += machsym_map_frames_at_addr(map, addrs[i], frames, FRAMES);
    return sum;
}

/* The same by batches. */
static size_t look_up_batches(const machsym_map *map, const uint64_t *addrs, size_t count)
{
    static machsym_map_frame frames[BATCH * FRAMES];
    machsym_answer answers[BATCH];
    size_t sum = 0;
    for (size_t i = 0; i < count; i += BATCH) {
        size_t n = count - i < BATCH ? count - i : BATCH;
        sum += machsym_map_frames_at_addrs(map, addrs + i, n, answers, frames, BATCH * FRAMES);
    }
    return sum;
}

/* The best processor time of some rounds, for all addresses. */
static double best_of(size_t (*look_up)(const machsym_map *, const uint64_t *, size_t),
                      const machsym_map *map, const uint64_t *addrs, size_t count)
{
    double best = 1e9;
    for (size_t i = 0; i < ROUNDS; i++) {
        double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
        look_up(map, addrs, count);
        double took = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        best = took < best ? took : best;
    }
    return best;
}

/* The median and the 99th percentile. */
static bool percentiles(const machsym_map *map, const uint64_t *addrs, size_t count, double *out)
{
    machsym_map_frame frames[FRAMES];
    double *times = malloc(count * sizeof *times);
    double clock = 1;
    if (times == NULL)
        return false;
    for (size_t i = 0; i < 1000; i++) {
        double begin = seconds(CLOCK_MONOTONIC);
        double took = seconds(CLOCK_MONOTONIC) - begin;
        clock = took < clock ? took : clock;
    }
    for (size_t i = 0; i < count; i++) {
        double begin = seconds(CLOCK_MONOTONIC);
        machsym_map_frames_at_addr(map, addrs[i], frames, FRAMES);
        times[i] = seconds(CLOCK_MONOTONIC) - begin - clock;
    }
    qsort(times, count, sizeof *times, by_time);
    out[0] = times[count / 2];
    out[1] = times[count * 99 / 100];
    free(times);
    return true;
}

int main(int argc, char **argv)
{
    static uint64_t addrs[MOST];
    machsym_map_desc desc = {0};
    machsym_map *map;
    machsym_error err;
    size_t count = 0;
    char line[64];
    FILE *in = argc == 3 ? fopen(argv[2], "r") : NULL;
    desc.path = argv[1];
    if (in == NULL || machsym_map_open(&desc, &map, &err) != MACHSYM_OK) {
        fprintf(stderr, "usage: lookups MAP ADDRESSES, hexadecimal, a line each\n");
        return 1;
    }
    while (count < MOST && fgets(line, sizeof line, in) != NULL)
        addrs[count++] = strtoull(line, NULL, 16);
    fclose(in);
    if (count == 0)
        return 1;
    size_t frames = look_up_all(map, addrs, count);
    if (look_up_batches(map, addrs, count) != frames) {
        fprintf(stderr, "lookups: batches give other frames than single lookups\n");
        return 1;
    }
    double one = best_of(look_up_all, map, addrs, count) / (double)count;
    double batch = (double)count / best_of(look_up_batches, map, addrs, count);
    double at[2] = {0, 0};
    if (!percentiles(map, addrs, count, at))
        return 1;
    printf("%.10f %.10f %.10f %.0f %.2f\n", one, at[0], at[1], batch, (double)frames / (double)count);
    machsym_map_close(map);
    return 0;
}
