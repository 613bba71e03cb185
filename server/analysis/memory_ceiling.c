/* memory_ceiling.c - the bus bandwidth that the memory of a host allows */
#include "server/analysis/memory_ceiling.h"

#include <math.h>
#include <stdio.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/spec/collective.h"
#include "server/finding/verdict.h"

#define CACHES 4 /* what a call moves is at least so many times the caches */

/* a + b n + c / n, of n ranks */
struct share {
    double a, b, c;
};

/* What all ranks together read and write at least, in sizes: each byte that somebody
 * needs is read once, each that comes from another rank is written once, and in place a
 * rank's own part stays where it is. alltoallv: it depends on its counts. */
static const struct {
    enum collective_kind kind;
    struct share read, written;
} traffic[] = {
    {COLLECTIVE_ALL_REDUCE, {0, 1, 0}, {0, 1, 0}},
    {COLLECTIVE_ALL_GATHER, {1, 0, 0}, {-1, 1, 0}},
    {COLLECTIVE_REDUCE_SCATTER, {0, 1, 0}, {1, 0, 0}},
    {COLLECTIVE_BROADCAST, {1, 0, 0}, {-1, 1, 0}},
    {COLLECTIVE_REDUCE, {0, 1, 0}, {1, 0, 0}},
    {COLLECTIVE_ALLTOALL, {-1, 1, 0}, {-1, 1, 0}},
    {COLLECTIVE_GATHER, {1, 0, -1}, {1, 0, -1}},
    {COLLECTIVE_SCATTER, {1, 0, -1}, {1, 0, -1}},
    {COLLECTIVE_SENDRECV, {0, 1, 0}, {0, 1, 0}},
    {COLLECTIVE_HYPERCUBE, {1, 0, 0}, {-1, 1, 0}},
};

static double times(const struct share *share, int n)
{
    return share->a + share->b * n + share->c / n;
}

/* Bus bandwidth counts so many sizes of a call; hypercube's algorithm bandwidth leaves
 * out what a rank has already. */
static double counted(enum collective_kind kind, int n)
{
    double own = collective_facts(kind)->counts_received ? (n - 1.0) / n : 1;

    return own * collective_bus_factor(kind, n);
}

bool memory_triad_read(const json_t *event, struct memory_triad *out)
{
    int64_t ranks = json_get_int(event, "ranks", 0);

    *out = (struct memory_triad){.gbs = json_get_num(event, "gbs", 0),
                                 .cache_bytes = json_get_int(event, "cache_bytes", 0)};
    if (ranks < 2 || ranks > INT32_MAX || !isfinite(out->gbs) || out->gbs <= 0 ||
        out->cache_bytes <= 0 || out->cache_bytes > INT64_MAX / CACHES)
        return false;
    out->ranks = (int)ranks;
    return true;
}

json_t *memory_ceiling_verdict(const struct memory_triad *triad)
{
    json_t *busbw = json_object(), *from = json_object();
    char sentence[240], limit[160], caches[UNITS_TEXT_MAX];

    for (size_t i = 0; i < sizeof(traffic) / sizeof(traffic[0]); i++) {
        const char *name = collective_name(traffic[i].kind);
        double moved = times(&traffic[i].read, triad->ranks) +
                       times(&traffic[i].written, triad->ranks);

        json_object_set_new(
            busbw, name,
            json_real(triad->gbs * counted(traffic[i].kind, triad->ranks) / moved));
        json_object_set_new(
            from, name,
            json_integer((json_int_t)ceil(CACHES * (double)triad->cache_bytes / moved)));
    }
    units_format_human((uint64_t)triad->cache_bytes, caches);
    snprintf(limit, sizeof(limit),
             "memory: triad of %d ranks, %.1f GB/s; not within caches (%s)", triad->ranks,
             triad->gbs, caches);
    snprintf(sentence, sizeof(sentence),
             "%d ranks get %.1f GB/s out of their memory with a triad: what does not fit "
             "into %s of caches moves no faster",
             triad->ranks, triad->gbs, caches);
    return verdict_json(VERDICT_CEILING, VERDICT_EXPECTED, sentence, NULL,
                        json_pack("{s:s, s:o, s:f, s:o}", "limit", limit, "busbw_gbs",
                                  busbw, "triad_gbs", triad->gbs, "from_bytes", from));
}

static double triad_of(const json_t *ceiling)
{
    return json_get_num(json_object_get(ceiling, "evidence"), "triad_gbs", 0);
}

bool memory_ceiling_is_better(const json_t *ceiling, const json_t *before)
{
    return triad_of(ceiling) > triad_of(before);
}
