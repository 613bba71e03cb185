/* SPDX-License-Identifier: Apache-2.0 */
/* arrival.c - compute how late each rank arrives at calls that follow a barrier */
#include "agent/worker/bench/arrival.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/worker/group/hostid.h"
#include "common/base/fnv.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"

/* Ranks that read the same clock. Each edge combines their times at one barrier: the
 * latest entry and the earliest exit. */
struct machine {
    uint64_t clock;
    struct arrival edge[ARRIVALS_MAX];
    int64_t ahead_ns; /* offset from the clock of rank 0 */
    double error_ns;
};

struct machines {
    struct machine *list;
    int n;
    int *of; /* index in `list` of each rank's machine */
};

void arrivals_init(struct arrivals *arrivals)
{
    char host[HOSTID_MAX];
    struct stat info;

    memset(arrivals, 0, sizeof(*arrivals));
    hostid_text(getenv("RINGBENCH_HOSTID"), host);
    arrivals->clock = fnv1a(FNV1A_BEGIN, host, strlen(host));
    /* A time namespace has its own monotonic clock. */
    if (stat("/proc/self/ns/time", &info) == 0)
        arrivals->clock = fnv1a(arrivals->clock, &info.st_ino, sizeof(info.st_ino));
}

void arrivals_add(struct arrivals *arrivals, struct arrival arrival)
{
    if (arrivals->n < ARRIVALS_MAX)
        arrivals->of[arrivals->n++] = arrival;
}

size_t arrivals_bytes(int64_t n)
{
    return offsetof(struct arrivals, of) + (size_t)n * sizeof(struct arrival);
}

/* ---- Clocks ---- */

/* Return the index of the machine with this rank's clock; add the machine if it is new.
 * Try the previous rank's machine first, because neighbors usually share a host. */
static int find_machine(struct machines *machines, int rank,
                        const struct arrivals *arrivals)
{
    int last = rank > 0 ? machines->of[rank - 1] : 0;

    if (rank > 0 && machines->list[last].clock == arrivals->clock)
        return last;
    for (int i = 0; i < machines->n; i++)
        if (machines->list[i].clock == arrivals->clock)
            return i;
    machines->list[machines->n] = (struct machine){.clock = arrivals->clock};
    memcpy(machines->list[machines->n].edge, arrivals->of, sizeof(arrivals->of));
    return machines->n++;
}

static void add_rank(struct machines *machines, int rank, const struct arrivals *arrivals)
{
    struct machine *machine;

    machines->of[rank] = find_machine(machines, rank, arrivals);
    machine = &machines->list[machines->of[rank]];
    for (int64_t i = 0; i < arrivals->n; i++) {
        struct arrival *edge = &machine->edge[i];

        if (arrivals->of[i].in_ns > edge->in_ns)
            edge->in_ns = arrivals->of[i].in_ns;
        if (arrivals->of[i].out_ns < edge->out_ns)
            edge->out_ns = arrivals->of[i].out_ns;
    }
}

static void find_offset(const struct machine *first, int64_t n, struct machine *machine)
{
    int64_t low = INT64_MIN, high = INT64_MAX;

    for (int64_t i = 0; i < n; i++) {
        int64_t least = machine->edge[i].in_ns - first->edge[i].out_ns;
        int64_t most = machine->edge[i].out_ns - first->edge[i].in_ns;

        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    /* low > high is possible if one clock runs faster than the other. */
    machine->ahead_ns = low + (high - low) / 2;
    machine->error_ns = fabs((double)(high - low)) / 2;
}

/* Fill in the machines' clock offsets. Returns the largest uncertainty between two
 * machines, in us. */
static double compare_clocks(struct machines *machines, int64_t n)
{
    double worst = 0, second = 0;

    for (int i = 1; i < machines->n; i++) {
        double error;

        find_offset(&machines->list[0], n, &machines->list[i]);
        error = machines->list[i].error_ns;
        second = error > worst ? worst : error > second ? error : second;
        worst = error > worst ? error : worst;
    }
    return (worst + second) / 1e3;
}

/* ---- Arrivals ---- */

/* The rank's arrival on its machine's clock, minus its delay in leaving the barrier.
 * Ranks that share cores leave a barrier one after another. That delay comes from
 * scheduling and is not lateness. */
static int64_t came_ns(const struct machine *machine, const struct arrivals *rank,
                       int64_t i)
{
    return rank->of[i].came_ns - (rank->of[i].out_ns - machine->edge[i].out_ns);
}

/* Fill late_us[rank * calls + i] for call i. scratch: room for n values. */
static void add_call(const struct machines *machines, const struct arrivals *ranks, int n,
                     int64_t i, double *late_us, double *scratch)
{
    int64_t first = ranks[0].of[i].came_ns;
    size_t step = (size_t)ranks->n;

    for (int k = 0; k < n; k++) {
        const struct machine *machine = &machines->list[machines->of[k]];

        scratch[k] =
            (double)(came_ns(machine, &ranks[k], i) - machine->ahead_ns - first) / 1e3;
    }
    for (int k = 0; k < n; k++)
        late_us[(size_t)k * step + (size_t)i] = scratch[k];
    order_stat_sort(scratch, (size_t)n);
    for (int k = 0; k < n; k++)
        late_us[(size_t)k * step + (size_t)i] -= scratch[(n - 1) / 2];
}

static void find_late(const struct machines *machines, const struct arrivals *ranks,
                      int n, double *late_us, double *room)
{
    size_t calls = (size_t)ranks->n;
    double *scratch = room + (size_t)n * calls;

    for (int64_t i = 0; i < ranks->n; i++)
        add_call(machines, ranks, n, i, room, scratch);
    for (int k = 0; k < n; k++) {
        double *own = room + (size_t)k * calls;

        order_stat_sort(own, calls);
        late_us[k] = median_of_sorted(own, calls);
    }
}

static struct machines machines_of(const struct arrivals *ranks, int n, double *error_us)
{
    size_t size = (size_t)n;
    struct machines machines = {
        .list = memory_zeroed(size, sizeof(*machines.list), "arrivals"),
        .of = memory_zeroed(size, sizeof(*machines.of), "arrivals")};

    assert(ranks->n >= 1 && ranks->n <= ARRIVALS_MAX);
    for (int i = 0; i < n; i++)
        add_rank(&machines, i, &ranks[i]);
    *error_us = compare_clocks(&machines, ranks->n);
    return machines;
}

static void machines_release(struct machines *machines)
{
    free(machines->list);
    free(machines->of);
}

double arrivals_skew_us(const struct arrivals *ranks, int n)
{
    double skews[ARRIVALS_MAX], error_us;
    struct machines machines = machines_of(ranks, n, &error_us);

    for (int64_t i = 0; i < ranks->n; i++) {
        int64_t first = INT64_MAX, last = INT64_MIN;

        for (int k = 0; k < n; k++) {
            int64_t left = ranks[k].of[i].out_ns - machines.list[machines.of[k]].ahead_ns;

            first = left < first ? left : first;
            last = left > last ? left : last;
        }
        skews[i] = (double)(last - first) / 1e3;
    }
    machines_release(&machines);
    order_stat_sort(skews, (size_t)ranks->n);
    return median_of_sorted(skews, (size_t)ranks->n);
}

void arrivals_late_us(const struct arrivals *ranks, int n, double *late_us,
                      double *error_us)
{
    struct machines machines = machines_of(ranks, n, error_us);
    double *room =
        memory_zeroed((size_t)n * (size_t)(ranks->n + 1), sizeof(*room), "arrivals");

    find_late(&machines, ranks, n, late_us, room);
    free(room);
    machines_release(&machines);
}
