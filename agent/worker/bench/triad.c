/* triad.c - what the ranks of a case get out of their host's memory */
#include "agent/worker/bench/triad.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/base/caches.h"
#include "common/base/clock.h"
#include "common/base/this_machine.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define PASSES_LEAST 3
#define PASSES_MOST 10
#define LONG_ENOUGH_NS 40e6
#define STEP 8 /* doubles: a line of the cache */

#if defined(__SSE2__)
/* Past the caches: a store that goes through them reads the line before, and what is
 * counted would be less than what moves. */
#define ELEMENT_BYTES 24.0
static void pass(double *a, const double *b, const double *c, size_t n)
{
    __m128d s = _mm_set1_pd(3);

    for (size_t i = 0; i < n; i += STEP)
        for (size_t k = i; k < i + STEP; k += 2)
            _mm_stream_pd(
                a + k, _mm_add_pd(_mm_load_pd(b + k), _mm_mul_pd(s, _mm_load_pd(c + k))));
    _mm_sfence();
}
#else
#define ELEMENT_BYTES 32.0 /* with the read that a store may cause */
static void pass(double *a, const double *b, const double *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}
#endif

int triad_look(struct triad *triad, struct error *err)
{
    size_t len = THIS_MACHINE_CPUS_SIZE;
    cpu_set_t *own = this_machine_cpus();
    char *sets = calloc((size_t)triad->ranks + 1, len);
    uint64_t *sizes = calloc((size_t)triad->ranks, sizeof(*sizes)), size = 0;
    int status = sets && sizes ? 0 : error_set(err, ERROR_MEMORY, "triad: out of memory");

    if (!status && own)
        memcpy(sets + (size_t)triad->ranks * len, own, len);
    if (!status)
        status = triad->backend->allgather(triad->comm, sets + (size_t)triad->ranks * len,
                                           len, sets, err);
    cpu_set_t *all = (cpu_set_t *)(void *)sets;
    for (int i = 1; !status && i < triad->ranks; i++)
        CPU_OR_S(len, all, all, (cpu_set_t *)(void *)(sets + (size_t)i * len));
    if (!status)
        size = caches_bytes("", all);
    /* A rank that cannot read them must not decide otherwise than the others. */
    if (!status)
        status = triad->backend->allgather(triad->comm, &size, sizeof(size), sizes, err);
    triad->cache_bytes = status ? 0 : sizes[0];
    CPU_FREE(own);
    free(sizes);
    free(sets);
    return status;
}

/* From the first rank's start to the last one's end: with more ranks than cores they do
 * not run at the same time. */
static int whole_span(const struct triad *triad, double own[2], double *all, double *ns,
                      struct error *err)
{
    if (triad->backend->allgather(triad->comm, own, 2 * sizeof(*own), all, err))
        return -1;
    for (int i = 0; i < triad->ranks; i++) {
        own[0] = all[2 * i] < own[0] ? all[2 * i] : own[0];
        own[1] = all[2 * i + 1] > own[1] ? all[2 * i + 1] : own[1];
    }
    *ns = own[1] - own[0];
    return 0;
}

static size_t elements(const struct triad *triad)
{
    uint64_t most = triad->cache_bytes * TRIAD_CACHES / (uint64_t)triad->ranks;
    uint64_t bytes = triad->bytes / 2 < most ? triad->bytes / 2 : most;

    return bytes / sizeof(double) / STEP * STEP;
}

int triad_measure(const struct triad *triad, double *gbs, struct error *err)
{
    size_t n = elements(triad);
    double *a = triad->to, *b = triad->from, *c = b + n, best = 0, spent = 0, ns = 0;
    double *all = calloc(2 * (size_t)triad->ranks, sizeof(*all));
    int status = all ? 0 : error_set(err, ERROR_MEMORY, "triad: out of memory");

    /* No numbers that are slow to multiply. */
    memset(a, 0, n * sizeof(*a));
    memset(b, 0, 2 * n * sizeof(*b));
    for (int i = 0;
         !status && i < PASSES_MOST && (i < PASSES_LEAST || spent < LONG_ENOUGH_NS);
         i++) {
        double own[2];

        status = triad->backend->barrier(triad->comm, err);
        own[0] = (double)clock_monotonic_ns();
        pass(a, b, c, n);
        own[1] = (double)clock_monotonic_ns();
        if (!status)
            status = whole_span(triad, own, all, &ns, err);
        spent += ns;
        if (!status && ns > 0) {
            double now = ELEMENT_BYTES * (double)n * triad->ranks / ns;
            best = now > best ? now : best;
        }
    }
    free(all);
    *gbs = best;
    return status;
}
