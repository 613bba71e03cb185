/* lateness.c - whether a rank comes late to what all wait for */
#include "server/analysis/lateness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/spec/collective.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/stats.h"
#include "server/analysis/verdict.h"

#define ROWS_MIN 8
#define ROWS_MAX 512
#define LEVEL 0.01     /* of runs in which the order of ranks is chance */
#define LEAD_MIN 0.2   /* of the others' time, where calls are shortest */
#define NEARLY_ALL 0.9 /* of the rows */
#define NOISE 0.02     /* of a time: a lead below that is lost in it */
#define LONGER 4.0     /* so much longer calls tell a lead of a time from one of a part */
#define LISTED_MAX 16
#define SENTENCE_MAX 2000

struct lateness {
    size_t n_ranks, n_rows, rows_max;
    double *times;  /* by row, by rank; us */
    double *sorted; /* the same, each row in rising order */
};

/* What speaks of one rank. */
struct lead {
    int rank;
    double us, share;   /* medians over the shorter half of the rows */
    size_t rows, first; /* in which such a lead is to be seen, and is */
    double long_share;  /* over the longest quarter of the rows */
    bool is_late;
};

struct lateness *lateness_create(size_t ranks)
{
    struct lateness *lateness = calloc(1, sizeof(*lateness));

    if (!lateness)
        return NULL;
    lateness->n_ranks = ranks;
    lateness->rows_max = ranks > 0 ? LATENESS_TIMES / ranks : 0;
    if (lateness->rows_max > ROWS_MAX)
        lateness->rows_max = ROWS_MAX;
    lateness->times = calloc(lateness->rows_max * ranks + 1, sizeof(double));
    lateness->sorted = calloc(lateness->rows_max * ranks + 1, sizeof(double));
    if (!lateness->times || !lateness->sorted) {
        lateness_destroy(lateness);
        return NULL;
    }
    return lateness;
}

void lateness_destroy(struct lateness *lateness)
{
    if (!lateness)
        return;
    free(lateness->times);
    free(lateness->sorted);
    free(lateness);
}

static bool is_synchronising(const json_t *row)
{
    int kind = collective_lookup(json_get_str(row, "collective", ""));

    return kind >= 0 && kind != COLLECTIVE_SENDRECV &&
           !collective_facts((enum collective_kind)kind)->is_rooted;
}

void lateness_add(struct lateness *lateness, const json_t *row)
{
    const json_t *times = json_object_get(row, "times_us");
    size_t n = lateness->n_ranks;
    double *to = lateness->times + lateness->n_rows * n;
    double *sorted = lateness->sorted + lateness->n_rows * n;

    if (n < 2 || json_array_size(times) != n || json_object_get(row, "group") ||
        lateness->n_rows == lateness->rows_max || !is_synchronising(row))
        return;
    for (size_t i = 0; i < n; i++) {
        to[i] = sorted[i] = json_number_value(json_array_get(times, i));
        if (!(to[i] > 0))
            return;
    }
    order_stat_sort(sorted, n);
    lateness->n_rows++;
}

/* ---- A rank beside the others ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the n - 1 >= 1 other ranks' times. */
static double others(const struct lateness *lateness, size_t row, size_t rank)
{
    const double *sorted = lateness->sorted + row * lateness->n_ranks;
    double own = lateness->times[row * lateness->n_ranks + rank];
    const double *at = bsearch(&own, sorted, lateness->n_ranks, sizeof(*sorted), compare);
    size_t n = lateness->n_ranks - 1, low = (n - 1) / 2, high = n / 2;
    size_t place = at ? (size_t)(at - sorted) : 0;

    return (sorted[low + (low >= place)] + sorted[high + (high >= place)]) / 2;
}

static double lead_us(const struct lateness *lateness, size_t row, size_t rank)
{
    return others(lateness, row, rank) - lateness->times[row * lateness->n_ranks + rank];
}

/* Rows by rising time of the middle rank. */
static void order_rows(const struct lateness *lateness, size_t *order)
{
    for (size_t i = 0; i < lateness->n_rows; i++) {
        double time = others(lateness, i, 0);
        size_t k = i;

        for (; k > 0 && others(lateness, order[k - 1], 0) > time; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static double median_lead(const struct lateness *lateness, const size_t *rows, size_t n,
                          size_t rank, bool as_share)
{
    double values[ROWS_MAX];

    for (size_t i = 0; i < n; i++)
        values[i] = lead_us(lateness, rows[i], rank) /
                    (as_share ? others(lateness, rows[i], rank) : 1);
    order_stat_sort(values, n);
    return median_of_sorted(values, n);
}

static size_t long_rows(const struct lateness *lateness)
{
    return lateness->n_rows - lateness->n_rows / 4;
}

/* Of longer calls it is as large a part: it ran ahead all the time, nobody waited. */
static bool is_part(const struct lateness *lateness, const size_t *order,
                    const struct lead *lead)
{
    size_t n = lateness->n_rows, rank = (size_t)lead->rank;

    return others(lateness, order[n - 1 - n / 8], rank) >=
               LONGER * others(lateness, order[n / 4], rank) &&
           2 * lead->long_share >= lead->share;
}

/* The order is of the rows, by time; there are ROWS_MIN at least. */
static void judge(const struct lateness *lateness, const size_t *order, struct lead *lead)
{
    size_t rank = (size_t)lead->rank, half = lateness->n_rows / 2, n = 0;
    double chance;

    lead->us = median_lead(lateness, order, half, rank, false);
    lead->share = median_lead(lateness, order, half, rank, true);
    lead->long_share = median_lead(lateness, order + long_rows(lateness),
                                   lateness->n_rows / 4, rank, true);
    for (size_t i = 0; i < lateness->n_rows; i++) {
        if (lead->us < NOISE * others(lateness, order[i], rank))
            continue;
        n++;
        lead->first += lead_us(lateness, order[i], rank) > 0;
    }
    lead->rows = n;
    if (n < ROWS_MIN)
        return;
    chance = stats_beta(0.5, (double)lead->first, (double)(n - lead->first + 1));
    lead->is_late =
        lead->share >= LEAD_MIN && (double)lead->first >= NEARLY_ALL * (double)n &&
        !is_part(lateness, order, lead) && (double)lateness->n_ranks * chance <= LEVEL;
}

/* ---- The verdict ---- */

struct finding {
    const struct lateness *lateness;
    lateness_node *node_of;
    const void *arg;
    struct lead *leads; /* by rank */
    size_t n_late;
    const struct lead *worst; /* the late one with most rows, or the longest lead */
};

static void find_leads(struct finding *finding)
{
    const struct lateness *lateness = finding->lateness;
    size_t order[ROWS_MAX];

    order_rows(lateness, order);
    for (size_t i = 0; i < lateness->n_ranks; i++) {
        struct lead *lead = &finding->leads[i];

        lead->rank = (int)i;
        judge(lateness, order, lead);
        finding->n_late += lead->is_late;
        if (!finding->worst || lead->is_late > finding->worst->is_late ||
            (lead->is_late == finding->worst->is_late &&
             lead->share > finding->worst->share))
            finding->worst = lead;
    }
}

static int put_rank(const struct finding *finding, int rank, struct buf *out)
{
    const char *node = finding->node_of(finding->arg, rank);

    return buf_printf(out, "rank %d%s%s", rank, node ? " on " : "", node ? node : "");
}

static int put_late(const struct finding *finding, struct buf *out)
{
    const struct lead *worst = finding->worst;
    char us[32];

    if (put_rank(finding, worst->rank, out))
        return -1;
    if (finding->n_late > 1 &&
        buf_printf(out, " and %zu more are late: its time is", finding->n_late - 1))
        return -1;
    if (finding->n_late == 1 && buf_append_str(out, " is late: its time is"))
        return -1;
    return buf_printf(out,
                      " the shortest in %zu of %zu rows, by %s us where calls are "
                      "shortest (%.0f %% of what the others take), since they wait for "
                      "it; a slow link would make all of them longer",
                      worst->first, worst->rows, gate_number_text(worst->us, us),
                      100 * worst->share);
}

static enum verdict_answer put_answer(const struct finding *finding, struct buf *out)
{
    if (finding->lateness->n_rows < ROWS_MIN || !finding->worst) {
        buf_printf(out,
                   "not enough data: %zu rows have times by rank that can tell a late "
                   "rank, and %d at least are needed",
                   finding->lateness->n_rows, ROWS_MIN);
        return VERDICT_NOT_ENOUGH_DATA;
    }
    if (finding->n_late > 0) {
        put_late(finding, out);
        return VERDICT_LATE_RANK;
    }
    buf_append_str(out, "no rank is late: the largest lead is that of ");
    put_rank(finding, finding->worst->rank, out);
    buf_printf(out, ", %.1f %% of the others' time where calls are shortest",
               100 * fmax(finding->worst->share, 0));
    return VERDICT_NONE;
}

static json_t *evidence_json(const struct finding *finding)
{
    json_t *late = json_array();

    for (size_t i = 0; finding->worst && i < finding->lateness->n_ranks; i++) {
        const struct lead *lead = &finding->leads[i];

        if ((!lead->is_late && (lead != finding->worst)) ||
            json_array_size(late) == LISTED_MAX)
            continue;
        json_array_append_new(
            late,
            json_pack("{s:i, s:s?, s:b, s:f, s:f, s:I, s:I, s:f}", "rank", lead->rank,
                      "node", finding->node_of(finding->arg, lead->rank), "late",
                      (int)lead->is_late, "lead_us", lead->us, "lead_share", lead->share,
                      "rows", (json_int_t)lead->rows, "first", (json_int_t)lead->first,
                      "long_share", lead->long_share));
    }
    return json_pack("{s:I, s:I, s:I, s:o}", "rows",
                     (json_int_t)finding->lateness->n_rows, "ranks",
                     (json_int_t)finding->lateness->n_ranks, "late",
                     (json_int_t)finding->n_late, "leads", late);
}

json_t *lateness_verdict(const struct lateness *lateness, lateness_node *node_of,
                         const void *arg)
{
    struct finding finding = {.lateness = lateness, .node_of = node_of, .arg = arg};
    enum verdict_answer answer;
    json_t *verdict;
    struct buf out;

    finding.leads = calloc(lateness->n_ranks + 1, sizeof(*finding.leads));
    if (!finding.leads)
        return NULL;
    if (lateness->n_rows >= ROWS_MIN)
        find_leads(&finding);
    buf_init(&out, SENTENCE_MAX);
    answer = put_answer(&finding, &out);
    verdict = verdict_json(VERDICT_LATENESS, answer, out.data ? out.data : "", NULL,
                           evidence_json(&finding));
    buf_release(&out);
    free(finding.leads);
    return verdict;
}
