/* nccl_table.c - which algorithm NCCL 2.18 and 2.19 will take for a call */
#include "agent/worker/nccl/nccl_table.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_profiler.h"

enum { TREE, RING, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE };
enum { SIMPLE = 2 };

#define BLOCK_ALGORITHMS 3   /* in a line of the table */
#define ROUNDED_BY 0.0501    /* of what is printed; more than half of 0.1, for floats */
#define PLATEAU_BYTES 64     /* per channel and rank, from which rings get slower */
#define CORRECTED_FROM 64    /* bytes, for trees; a factor per power of two */
#define CHANNELS_SANE 1024   /* NCCL has 32 */
#define THREADS_SANE 1048576 /* NCCL has 640 */

/* Which line of the table is whose; NCCL's order. */
static const struct {
    const char *name;
    enum collective_kind kind;
} functions[NCCL_TABLE_FUNCTIONS] = {
    {"Broadcast", COLLECTIVE_BROADCAST},  {"Reduce", COLLECTIVE_REDUCE},
    {"AllGather", COLLECTIVE_ALL_GATHER}, {"ReduceScatter", COLLECTIVE_REDUCE_SCATTER},
    {"AllReduce", COLLECTIVE_ALL_REDUCE},
};

/* How much of a tree's bandwidth there is from 64 B on, in tenths. */
static const unsigned char tree_tenths[NCCL_TABLE_PROTOCOLS][23] = {
    {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10},
    {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10},
    {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9},
};

static int column_of(const char *name, size_t len)
{
    static const char *const names[NCCL_TABLE_ALGORITHMS] = {
        "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree"};

    for (int i = 0; i < NCCL_TABLE_ALGORITHMS; i++)
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
            return i + 1;
    return 0;
}

/* "|" and a name between blanks, for each algorithm of the block. */
static bool read_algorithms(struct nccl_table *table, const char *at)
{
    for (int i = 0; i < BLOCK_ALGORITHMS; i++) {
        at = at ? strchr(at, '|') : NULL;
        at = at ? at + 1 + strspn(at + 1, " ") : NULL;
        table->columns[i] = at ? column_of(at, strcspn(at, " |")) : 0;
    }
    return true;
}

/* The next cell's text; NULL: there is none. */
static const char *next_cell(const char *at)
{
    at = at ? strchr(at, '|') : NULL;
    return at && strchr(at + 1, '|') ? at + 1 : NULL;
}

static bool read_threads(struct nccl_table *table, const char *at)
{
    for (int i = 0; i < BLOCK_ALGORITHMS * NCCL_TABLE_PROTOCOLS; i++) {
        int algo = table->columns[i / NCCL_TABLE_PROTOCOLS] - 1;
        at = next_cell(at);
        if (at && algo >= 0)
            sscanf(at, "%9d", &table->threads[algo][i % NCCL_TABLE_PROTOCOLS]);
    }
    return true;
}

static bool read_costs(struct nccl_table *table, int function, const char *at)
{
    for (int i = 0; i < BLOCK_ALGORITHMS * NCCL_TABLE_PROTOCOLS; i++) {
        int algo = table->columns[i / NCCL_TABLE_PROTOCOLS] - 1;
        float latency, bandwidth;
        at = next_cell(at);
        if (at && algo >= 0 && sscanf(at, "%20f/%20f", &latency, &bandwidth) == 2 &&
            latency >= 0 && bandwidth >= 0) {
            table->costs[function][algo][i % NCCL_TABLE_PROTOCOLS].latency_us = latency;
            table->costs[function][algo][i % NCCL_TABLE_PROTOCOLS].bandwidth_gbs =
                bandwidth;
        }
    }
    return true;
}

static bool read_row(struct nccl_table *table, const char *text)
{
    size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " |");

    if (strncmp(text + blanks + len, " |", 2) != 0)
        return false;
    for (int i = 0; i < NCCL_TABLE_FUNCTIONS; i++)
        if (strlen(functions[i].name) == len &&
            strncmp(functions[i].name, text + blanks, len) == 0)
            return read_costs(table, i, text);
    return false;
}

static bool read_thresholds(struct nccl_table *table, const char *text)
{
    int(*to)[NCCL_TABLE_PROTOCOLS] = table->thresholds;

    return sscanf(text, "threadThresholds %9d/%9d/%9d | %9d/%9d/%9d", &to[TREE][0],
                  &to[TREE][1], &to[TREE][2], &to[RING][0], &to[RING][1],
                  &to[RING][2]) == 6;
}

bool nccl_table_read(struct nccl_table *table, const char *line)
{
    static const char mark[] = " NCCL INFO ";
    const char *text = strstr(line, mark);
    int channels, nvls, end = 0;

    if (!text)
        return false;
    text += strlen(mark);
    if (strncmp(text, "  Algorithm   |", 15) == 0)
        return read_algorithms(table, text);
    if (strncmp(text, "  Protocol    |", 15) == 0)
        return true;
    if (strncmp(text, " Max NThreads |", 15) == 0)
        return read_threads(table, text);
    if (sscanf(text, "%9d coll channels, %9d nvls channels%n", &channels, &nvls, &end) ==
            2 &&
        end > 0) {
        table->channels = channels;
        table->nvls_channels = nvls;
        return true;
    }
    if (strncmp(text, "Using tuner plugin: ", 20) == 0) {
        table->has_tuner = true;
        return true;
    }
    return read_thresholds(table, text) || read_row(table, text);
}

static int function_of(enum collective_kind kind)
{
    for (int i = 0; i < NCCL_TABLE_FUNCTIONS; i++)
        if (functions[i].kind == kind)
            return i;
    return -1;
}

/* What NCCL calls the call's bytes: its larger side. */
static size_t bytes_of(const struct nccl_table_call *call)
{
    bool is_parted =
        call->kind == COLLECTIVE_ALL_GATHER || call->kind == COLLECTIVE_REDUCE_SCATTER;

    return call->count * dtype_size(call->dtype) * (is_parted ? (size_t)call->ranks : 1);
}

/* Whether the switch can reduce these. An average is a sum of products there. */
static bool nvls_reduces(const struct nccl_table_call *call)
{
    switch (call->dtype) {
    case DTYPE_INT32:
    case DTYPE_UINT32:
    case DTYPE_INT64:
    case DTYPE_UINT64:
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
        return call->redop == REDOP_SUM || call->redop == REDOP_MIN ||
               call->redop == REDOP_MAX;
    case DTYPE_FLOAT32:
    case DTYPE_FLOAT64:
        return call->redop == REDOP_SUM;
    default:
        return false;
    }
}

enum use { NEVER, PERHAPS, YES };

/* Whether NCCL looks at it. It does at CollNet where the plugin can reduce that type by
 * that operation, which is logged nowhere. */
static enum use use_of(const struct nccl_table_call *call, int algo)
{
    bool gathers = call->kind == COLLECTIVE_ALL_GATHER;
    bool is_parted = gathers || call->kind == COLLECTIVE_REDUCE_SCATTER;

    switch (algo) {
    case COLLNET_DIRECT:
    case COLLNET_CHAIN:
        return PERHAPS;
    case NVLS:
        if ((!gathers && !nvls_reduces(call)) || (is_parted && call->hosts > 1))
            return NEVER;
        return call->hosts > 1 ? PERHAPS : YES;
    case NVLS_TREE:
        return nvls_reduces(call) ? YES : NEVER;
    default:
        return YES;
    }
}

/* An expected time in us, as far as it is known. */
struct span {
    double low, middle, high;
};

static double tree_factor(int proto, size_t bytes)
{
    size_t power = 0;

    for (size_t n = bytes / CORRECTED_FROM; n > 1; n /= 2)
        power++;
    return power < sizeof(tree_tenths[0]) ? tree_tenths[proto][power] / 10.0 : 1.0;
}

/* From somewhere on rings stay below what they should do between nodes. */
static double ring_factor(const struct nccl_table *table,
                          const struct nccl_table_call *call, int proto, size_t bytes)
{
    size_t shares = (size_t)table->channels * (size_t)call->ranks;

    if (proto != SIMPLE || call->hosts == 1 || call->kind != COLLECTIVE_ALL_REDUCE ||
        bytes / shares < PLATEAU_BYTES)
        return 1.0;
    return call->capability < 80 ? 1.9 : 1.4;
}

static struct span time_of(const struct nccl_table *table,
                           const struct nccl_table_call *call, int algo, int proto)
{
    int function = function_of(call->kind);
    double latency = (double)table->costs[function][algo][proto].latency_us;
    double gbs = (double)table->costs[function][algo][proto].bandwidth_gbs;
    size_t bytes = bytes_of(call);
    double per_latency = algo == RING ? ring_factor(table, call, proto, bytes) : 1.0;
    double per_gbs = algo == TREE ? tree_factor(proto, bytes) : 1.0;
    double mb = (double)bytes / 1000.0 / per_gbs; /* us at 1 GB/s */

    return (struct span){.low = (latency - ROUNDED_BY) * per_latency +
                                mb / (gbs + ROUNDED_BY),
                         .middle = latency * per_latency + mb / gbs,
                         .high = (latency + ROUNDED_BY) * per_latency +
                                 mb / (gbs > ROUNDED_BY ? gbs - ROUNDED_BY : gbs / 2)};
}

struct best {
    int algo, proto;   /* of the least expected time */
    struct span time;  /* its */
    double others_low; /* the least that any other may take */
};

static void consider(struct best *best, int algo, int proto, struct span time,
                     enum use use)
{
    bool is_best = use == YES && (best->algo < 0 || time.middle < best->time.middle);
    double lost = is_best ? (best->algo < 0 ? 1e300 : best->time.low) : time.low;

    best->others_low = lost < best->others_low ? lost : best->others_low;
    if (is_best) {
        best->algo = algo;
        best->proto = proto;
        best->time = time;
    }
}

/* A call that is small for them gets fewer, and only then fewer threads (getAlgoInfo). */
static int channels_of(const struct nccl_table *table, const struct best *best,
                       size_t bytes)
{
    int threads = table->threads[best->algo][best->proto];
    int threshold = table->thresholds[best->algo][best->proto];
    int channels = table->channels;

    if (best->algo == NVLS || best->algo == NVLS_TREE)
        return table->nvls_channels;
    if (threads <= 0 || threads > THREADS_SANE || threshold <= 0)
        return 0;
    while (channels > 1 &&
           (double)bytes < (double)channels * (double)threads * (double)threshold)
        channels--;
    return channels;
}

void nccl_table_predict(const struct nccl_table *table,
                        const struct nccl_table_call *call, struct choice *out)
{
    struct best best = {.algo = -1, .others_low = 1e300};
    int function = function_of(call->kind);

    assert(call->ranks > 0 && call->hosts > 0);
    if (function < 0 || call->count == 0 || call->ranks == 1 || table->has_tuner ||
        table->channels < 1 || table->channels > CHANNELS_SANE)
        return;
    for (int algo = 0; algo < NCCL_TABLE_ALGORITHMS; algo++)
        for (int proto = 0; proto < NCCL_TABLE_PROTOCOLS; proto++)
            if (table->costs[function][algo][proto].bandwidth_gbs > 0 &&
                use_of(call, algo) != NEVER)
                consider(&best, algo, proto, time_of(table, call, algo, proto),
                         use_of(call, algo));
    if (best.algo < 0 || best.time.high >= best.others_low)
        return;
    *out = (struct choice){.by = "table",
                           .channels = channels_of(table, &best, bytes_of(call))};
    snprintf(out->algo, sizeof(out->algo), "%s", nccl_algorithm((unsigned)best.algo));
    snprintf(out->proto, sizeof(out->proto), "%s", nccl_protocol((unsigned)best.proto));
    out->expected_us = (float)best.time.middle;
}
