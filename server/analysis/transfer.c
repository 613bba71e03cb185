/* transfer.c - whose link is slow, by what ranks exchange with their neighbours */
#include "server/analysis/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "server/finding/template.h"

#define RANKS_MIN 3 /* of two there is one link, and nothing to hold it against */
#define ROWS_MIN 8
#define ROWS_LEAST 4 /* of them */
#define FIGURES 65536
#define SLOW_MIN 1.5   /* times what the faster ranks take */
#define NEARLY_ALL 0.9 /* of the rows */
#define LISTED_MAX 16

/* What of its time each rank did not wait for neighbours that came late, by what the
 * faster ranks take: at least so much, however clocks are off. */
struct row {
    double time_us; /* of these */
    double *times;  /* by receiver */
};

struct transfer {
    size_t n_ranks, n_rows, rows_max;
    rank_node *node_of;
    const void *arg;
    size_t *receivers; /* ranks that receive from another node */
    size_t n_receivers;
    struct row rows[TRANSFER_ROWS_MAX];
    double *times; /* of all rows */
};

size_t transfer_rows(size_t ranks)
{
    size_t rows = ranks > 0 ? FIGURES / ranks : 0;

    if (rows < TRANSFER_ROWS_MIN)
        return TRANSFER_ROWS_MIN;
    return rows < TRANSFER_ROWS_MAX ? rows : TRANSFER_ROWS_MAX;
}

/* What other ranks exchange within their node takes less time, and says nothing against
 * these; nor does a rank that only sends to another node, for that may be buffered. */
static bool is_receiver(const struct transfer *transfer, size_t rank)
{
    size_t n = transfer->n_ranks;
    const char *own = transfer->node_of(transfer->arg, (int)rank);
    const char *last = transfer->node_of(transfer->arg, (int)((rank + n - 1) % n));

    return !own || !last || strcmp(own, last) != 0;
}

static void find_receivers(struct transfer *transfer)
{
    for (size_t i = 0; i < transfer->n_ranks; i++)
        if (is_receiver(transfer, i))
            transfer->receivers[transfer->n_receivers++] = i;
    if (transfer->n_receivers >= RANKS_MIN)
        transfer->rows_max = transfer_rows(transfer->n_receivers);
}

struct transfer *transfer_create(size_t ranks, rank_node *node_of, const void *arg)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));

    if (!transfer)
        return NULL;
    *transfer = (struct transfer){.n_ranks = ranks, .node_of = node_of, .arg = arg};
    transfer->receivers = calloc(ranks + 1, sizeof(*transfer->receivers));
    if (transfer->receivers)
        find_receivers(transfer);
    transfer->times =
        calloc(transfer->rows_max * transfer->n_receivers + 1, sizeof(double));
    if (transfer->receivers && transfer->times)
        return transfer;
    transfer_destroy(transfer);
    return NULL;
}

void transfer_destroy(struct transfer *transfer)
{
    if (!transfer)
        return;
    free(transfer->receivers);
    free(transfer->times);
    free(transfer);
}

/* ---- Rows ---- */

static double at(const json_t *values, size_t rank, size_t n)
{
    return json_number_value(json_array_get(values, rank % n));
}

/* Less what it waited for the later of its neighbours, which came later by off_us. */
static double own_us(const json_t *row, size_t rank, size_t n, double off_us)
{
    const json_t *late = json_object_get(row, "late_us");
    double later = fmax(at(late, rank + n - 1, n), at(late, rank + 1, n)) + off_us;

    return at(json_object_get(row, "times_us"), rank, n) -
           fmax(later - at(late, rank, n), 0);
}

void transfer_add(struct transfer *transfer, const json_t *json)
{
    double error_us = json_get_num(json, "late_error_us", 0);
    size_t ranks = transfer->n_ranks, n = transfer->n_receivers;
    struct row row = {.times = transfer->times + transfer->n_rows * n};
    double *sorted;

    if (transfer->n_rows == transfer->rows_max ||
        json_array_size(json_object_get(json, "times_us")) != ranks ||
        json_array_size(json_object_get(json, "late_us")) != ranks ||
        !(sorted = calloc(n, sizeof(*sorted))))
        return;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = own_us(json, transfer->receivers[i], ranks, -error_us);
        row.times[i] = own_us(json, transfer->receivers[i], ranks, error_us);
    }
    order_stat_sort(sorted, n);
    row.time_us = sorted[(n - 1) / 4];
    free(sorted);
    for (size_t i = 0; i < n; i++)
        row.times[i] /= row.time_us;
    if (row.time_us > 0)
        transfer->rows[transfer->n_rows++] = row;
}

/* ---- Ranks ---- */

static int longest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->time_us < y->time_us) - (x->time_us > y->time_us);
}

/* What was found. */
struct finding {
    const struct transfer *transfer;
    struct row rows[TRANSFER_ROWS_MAX]; /* the longest quarter: in short ones no bytes are
                                           slow */
    size_t n_rows;
    bool *slow; /* by rank */
    size_t n_slow;
    double times;         /* of the slowest of these, the median */
    size_t least_rows;    /* in which each of them is slow */
    const char *nodes[2]; /* that all slow links have in common */
    size_t n_nodes;
};

static void judge(struct finding *finding, size_t receiver)
{
    double values[TRANSFER_ROWS_MAX], middle;
    size_t rows = 0;

    for (size_t i = 0; i < finding->n_rows; i++)
        values[i] = finding->rows[i].times[receiver];
    order_stat_sort(values, finding->n_rows);
    middle = median_of_sorted(values, finding->n_rows);
    for (size_t i = 0; i < finding->n_rows; i++)
        rows += values[i] > fmin((1 + middle) / 2, SLOW_MIN);
    if (middle < SLOW_MIN || (double)rows < NEARLY_ALL * (double)finding->n_rows)
        return;
    finding->slow[finding->transfer->receivers[receiver]] = true;
    finding->least_rows =
        finding->n_slow++ == 0 || rows < finding->least_rows ? rows : finding->least_rows;
    finding->times = fmax(finding->times, middle);
}

/* ---- Links ---- */

static bool has_node(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->n_nodes; i++)
        if (name && strcmp(finding->nodes[i], name) == 0)
            return true;
    return false;
}

/* One more suspect: of those so far the nodes stay that it has, too. */
static void narrow(struct finding *finding, size_t first, size_t second, bool *is_begun)
{
    const struct transfer *transfer = finding->transfer;
    const char *a = transfer->node_of(transfer->arg, (int)first);
    const char *b = transfer->node_of(transfer->arg, (int)second);
    bool has_a = a && (!*is_begun || has_node(finding, a));
    bool has_b = b && (!*is_begun || has_node(finding, b)) && (!a || strcmp(a, b) != 0);

    *is_begun = true;
    finding->n_nodes = 0;
    if (has_a)
        finding->nodes[finding->n_nodes++] = a;
    if (has_b)
        finding->nodes[finding->n_nodes++] = b;
}

/* A slow link makes the ranks at both ends slow, or, where what is sent is buffered or
 * its sender is not judged, the one that receives from it. */
static void find_nodes(struct finding *finding)
{
    size_t n = finding->transfer->n_ranks;
    bool is_begun = false;

    for (size_t i = 0; i < n; i++) {
        size_t next = (i + 1) % n, last = (i + n - 1) % n;

        if (!finding->slow[i])
            continue;
        if (finding->slow[next])
            narrow(finding, i, next, &is_begun);
        else if (!finding->slow[last])
            narrow(finding, last, i, &is_begun);
    }
}

static bool find_slow(struct finding *finding)
{
    const struct transfer *transfer = finding->transfer;

    if (transfer->n_rows < ROWS_MIN)
        return false;
    memcpy(finding->rows, transfer->rows, transfer->n_rows * sizeof(*finding->rows));
    qsort(finding->rows, transfer->n_rows, sizeof(*finding->rows), longest_first);
    finding->n_rows =
        transfer->n_rows / 4 > ROWS_LEAST ? transfer->n_rows / 4 : ROWS_LEAST;
    for (size_t i = 0; i < transfer->n_receivers; i++)
        judge(finding, i);
    find_nodes(finding);
    return finding->n_slow > 0;
}

/* ---- What is said ---- */

static void put_whose(const struct finding *finding, struct buf *out)
{
    if (finding->n_nodes == 2)
        buf_printf(out, "what %s and %s exchange is slow", finding->nodes[0],
                   finding->nodes[1]);
    else if (finding->n_nodes == 1)
        buf_printf(out, "what %s exchanges with its neighbours is slow",
                   finding->nodes[0]);
    else
        buf_append_str(out, "a transfer is slow, but whose cannot be told");
}

static void put_sentence(const struct finding *finding, struct buf *out)
{
    char times[32];

    put_whose(finding, out);
    buf_printf(out,
               ": in %zu of %zu rows of sendrecv %zu of %zu ranks that receive from "
               "another node take up to %s times as long as the others, less what they "
               "wait for late ones: the network, not the host",
               finding->least_rows, finding->n_rows, finding->n_slow,
               finding->transfer->n_receivers, template_number(finding->times, times));
    if (finding->n_nodes != 1)
        buf_append_str(out,
                       finding->n_nodes == 2
                           ? "; which of the two, or the link, the pattern pairs tells"
                           : "; the pattern pairs tells");
}

static json_t *evidence_of(const struct finding *finding)
{
    json_t *nodes = json_array(), *ranks = json_array();

    for (size_t i = 0; i < finding->n_nodes; i++)
        json_array_append_new(nodes, json_string(finding->nodes[i]));
    for (size_t i = 0; i < finding->transfer->n_ranks; i++)
        if (finding->slow[i] && json_array_size(ranks) < LISTED_MAX)
            json_array_append_new(ranks, json_integer((json_int_t)i));
    return json_pack("{s:b, s:o, s:o, s:f, s:I}", "slow", 1, "nodes", nodes, "ranks",
                     ranks, "times", finding->times, "rows",
                     (json_int_t)finding->least_rows);
}

bool transfer_find(const struct transfer *transfer, struct buf *out, json_t **evidence)
{
    struct finding *finding = calloc(1, sizeof(*finding));
    bool has_found = false;

    if (!finding)
        return false;
    *finding = (struct finding){.transfer = transfer};
    finding->slow = calloc(transfer->n_ranks, sizeof(*finding->slow));
    if (finding->slow && find_slow(finding)) {
        put_sentence(finding, out);
        *evidence = evidence_of(finding);
        has_found = true;
    }
    free(finding->slow);
    free(finding);
    return has_found;
}
