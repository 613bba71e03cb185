/* lateness.c - whether a rank comes late to what all wait for */
#include "server/analysis/lateness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/spec/collective.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/stats.h"
#include "server/analysis/verdict.h"

#define ROWS_MIN 8
#define LATE_MIN_US 5.0 /* later than that is late: what leaving a barrier takes */
/* Clocks' error, and the time of a message, which is no more: by that who comes last to a
 * barrier leaves it first. */
#define ERRORS 2
/* What keeps all of them apart is not one of them. */
#define APART 3
#define NEARLY_ALL 0.9 /* of the rows */
/* That one of ranks which are alike would be the late one as often. */
#define CHANCE_MAX 0.001
#define LISTED_MAX 16
#define SENTENCE_MAX 2000

/* One in which clocks agree well enough to tell. */
struct row {
    double time_us, error_us; /* of the slowest rank; of clocks, at most */
    double apart_us;          /* as far from the middle one as half of the ranks are */
    double *late_us;          /* by rank */
};

struct lateness {
    size_t n_ranks, n_rows, rows_max;
    double late_min; /* of what a call takes */
    rank_node *node_of;
    const void *arg;
    size_t n_known;        /* rows that say when ranks came, however well */
    double least_error_us; /* of these */
    struct row rows[TRANSFER_ROWS_MAX];
    double *late_us; /* of all rows */
    struct transfer *transfer;
};

/* What speaks of one rank. */
struct delay {
    int rank;
    double us, share; /* medians over the shorter half of the rows */
    size_t rows;      /* in which it came late beside clocks and the other ranks */
    bool is_late;
};

struct lateness *lateness_create(size_t ranks, double late, rank_node *node_of,
                                 const void *arg)
{
    struct lateness *lateness = calloc(1, sizeof(*lateness));

    if (!lateness)
        return NULL;
    *lateness = (struct lateness){.n_ranks = ranks,
                                  .late_min = late,
                                  .node_of = node_of,
                                  .arg = arg,
                                  .least_error_us = HUGE_VAL};
    lateness->rows_max = transfer_rows(ranks);
    lateness->late_us = calloc(lateness->rows_max * ranks + 1, sizeof(double));
    lateness->transfer = transfer_create(ranks, node_of, arg);
    if (lateness->late_us && lateness->transfer)
        return lateness;
    lateness_destroy(lateness);
    return NULL;
}

void lateness_destroy(struct lateness *lateness)
{
    if (!lateness)
        return;
    transfer_destroy(lateness->transfer);
    free(lateness->late_us);
    free(lateness);
}

static int collective_of(const json_t *row)
{
    return collective_lookup(json_get_str(row, "collective", ""));
}

static bool is_synchronising(const json_t *row)
{
    int kind = collective_of(row);

    return kind >= 0 && kind != COLLECTIVE_SENDRECV &&
           !collective_facts((enum collective_kind)kind)->is_rooted;
}

static bool read_times(const json_t *late, struct row *row)
{
    size_t n = json_array_size(late);
    double *distances = calloc(n, sizeof(*distances));

    for (size_t i = 0; distances && i < n; i++) {
        row->late_us[i] = json_number_value(json_array_get(late, i));
        distances[i] = fabs(row->late_us[i]);
    }
    if (!distances)
        return false;
    order_stat_sort(distances, n);
    row->apart_us = distances[(n - 1) / 2];
    free(distances);
    return true;
}

void lateness_add(struct lateness *lateness, const json_t *json)
{
    const json_t *late = json_object_get(json, "late_us");
    size_t n = lateness->n_ranks;
    struct row row = {.late_us = lateness->late_us + lateness->n_rows * n};

    if (collective_of(json) == COLLECTIVE_SENDRECV && !json_object_get(json, "group"))
        transfer_add(lateness->transfer, json);
    if (n < 2 || json_array_size(late) != n || json_object_get(json, "group") ||
        lateness->n_rows == lateness->rows_max || !is_synchronising(json))
        return;
    row.time_us = json_get_num(json, "time_max_us", 0);
    row.error_us = json_get_num(json, "late_error_us", 0);
    lateness->n_known++;
    lateness->least_error_us = fmin(lateness->least_error_us, row.error_us);
    if (!(row.time_us > 0) || ERRORS * row.error_us > lateness->late_min * row.time_us)
        return;
    if (read_times(late, &row))
        lateness->rows[lateness->n_rows++] = row;
}

/* ---- A rank beside the others ---- */

static int by_time(const void *a, const void *b)
{
    const struct row *const *x = a, *const *y = b;

    return ((*x)->time_us > (*y)->time_us) - ((*x)->time_us < (*y)->time_us);
}

/* Rows by rising time of their calls. */
static void order_rows(const struct lateness *lateness, const struct row **order)
{
    for (size_t i = 0; i < lateness->n_rows; i++)
        order[i] = &lateness->rows[i];
    qsort(order, lateness->n_rows, sizeof(*order), by_time);
}

static double median_late(const struct row *const *rows, size_t n, size_t rank,
                          bool as_share)
{
    double values[TRANSFER_ROWS_MAX];

    for (size_t i = 0; i < n; i++)
        values[i] = rows[i]->late_us[rank] / (as_share ? rows[i]->time_us : 1);
    order_stat_sort(values, n);
    return median_of_sorted(values, n);
}

/* How probable it is that some one of so many ranks comes last in k of n rows or more, by
 * chance: both tails of binomials are incomplete beta functions. */
static double chance_of(size_t ranks, size_t k, size_t n)
{
    return k == 0 ? 1
                  : (double)ranks *
                        stats_beta(1 / (double)ranks, (double)k, (double)(n - k + 1));
}

/* So many that one which is late in all of them is so for a reason. */
static size_t rows_least(const struct lateness *lateness)
{
    size_t rows = ROWS_MIN;

    while (chance_of(lateness->n_ranks, rows, rows) > CHANCE_MAX)
        rows++;
    return rows;
}

static bool came_late(const struct row *row, size_t rank, double usual_us)
{
    double us = row->late_us[rank];

    return us > usual_us / 2 && us > ERRORS * row->error_us && us > APART * row->apart_us;
}

/* The order is of the rows, by time; there are rows_least() at least. */
static void judge(const struct lateness *lateness, const struct row *const *order,
                  struct delay *delay)
{
    size_t rank = (size_t)delay->rank, n = lateness->n_rows;

    delay->us = median_late(order, n / 2, rank, false);
    delay->share = median_late(order, n / 2, rank, true);
    for (size_t i = 0; i < n; i++)
        delay->rows += came_late(order[i], rank, delay->us);
    delay->is_late = delay->us >= LATE_MIN_US && delay->share >= lateness->late_min &&
                     (double)delay->rows >= NEARLY_ALL * (double)n &&
                     chance_of(lateness->n_ranks, delay->rows, n) <= CHANCE_MAX;
}

/* ---- The verdict ---- */

struct finding {
    const struct lateness *lateness;
    double error_us;      /* of clocks, the median over the rows */
    struct delay *delays; /* by rank */
    size_t n_late;
    const struct delay *worst; /* of the late ones, or of all */
};

static double median_error(const struct lateness *lateness)
{
    double values[TRANSFER_ROWS_MAX];

    for (size_t i = 0; i < lateness->n_rows; i++)
        values[i] = lateness->rows[i].error_us;
    order_stat_sort(values, lateness->n_rows);
    return median_of_sorted(values, lateness->n_rows);
}

static void find_delays(struct finding *finding)
{
    const struct lateness *lateness = finding->lateness;
    const struct row *order[TRANSFER_ROWS_MAX];

    order_rows(lateness, order);
    finding->error_us = median_error(lateness);
    for (size_t i = 0; i < lateness->n_ranks; i++) {
        struct delay *delay = &finding->delays[i];

        delay->rank = (int)i;
        judge(lateness, order, delay);
        finding->n_late += delay->is_late;
        if (!finding->worst || delay->is_late > finding->worst->is_late ||
            (delay->is_late == finding->worst->is_late &&
             delay->share > finding->worst->share))
            finding->worst = delay;
    }
}

static void put_rank(const struct finding *finding, struct buf *out)
{
    int rank = finding->worst->rank;
    const struct lateness *lateness = finding->lateness;
    const char *node = lateness->node_of(lateness->arg, rank);

    buf_printf(out, "rank %d%s%s", rank, node ? " on " : "", node ? node : "");
}

static void put_clocks(const struct finding *finding, struct buf *out)
{
    char us[32];

    if (finding->error_us > 0)
        buf_printf(out, " (clocks agree within %s us)",
                   gate_number_text(finding->error_us, us));
    else
        buf_append_str(out, " (by one clock)");
}

static enum verdict_answer put_late(const struct finding *finding, struct buf *out)
{
    const struct delay *worst = finding->worst;
    char us[32];

    put_rank(finding, out);
    buf_printf(out, " is late in %zu of %zu rows", worst->rows,
               finding->lateness->n_rows);
    if (finding->n_late > 1)
        buf_printf(out, ", and %zu more are", finding->n_late - 1);
    buf_printf(out,
               ": it comes %s us after the middle rank, %.0f %% of what short calls take",
               gate_number_text(worst->us, us), 100 * worst->share);
    put_clocks(finding, out);
    buf_append_str(out, ": the host, not the network");
    return VERDICT_LATE_RANK;
}

static enum verdict_answer put_none(const struct finding *finding, const char *slow,
                                    struct buf *out)
{
    const struct delay *worst = finding->worst;
    double us = fmax(worst->us, 0);

    if (slow)
        buf_printf(
            out,
            "the transfer is slow (%s), and calls in which all wait for all do not "
            "show whose: the follow-up finds it (pattern pairs or bisect); ",
            slow);
    buf_printf(out,
               "no rank is late: the latest one comes %.*f us after the middle rank, "
               "%.1f %% of what short calls take",
               us < 10 ? 2 : 0, us, 100 * fmax(worst->share, 0));
    put_clocks(finding, out);
    if (slow)
        return VERDICT_SLOW_TRANSFER;
    buf_append_str(out, ": where calls are slow, the transfer is");
    return VERDICT_NONE;
}

static enum verdict_answer put_too_little(const struct lateness *lateness,
                                          struct buf *out)
{
    char us[32];

    buf_printf(out,
               "not enough data: %zu rows can tell a late rank, and %zu at least are "
               "needed",
               lateness->n_rows, rows_least(lateness));
    if (lateness->n_known >= rows_least(lateness))
        buf_printf(
            out,
            "; in %zu more, calls are too short for clocks that agree within %s us "
            "at best",
            lateness->n_known - lateness->n_rows,
            gate_number_text(lateness->least_error_us, us));
    return VERDICT_NOT_ENOUGH_DATA;
}

static json_t *evidence_json(const struct finding *finding)
{
    const struct lateness *lateness = finding->lateness;
    json_t *listed = json_array();

    for (size_t i = 0; finding->worst && i < lateness->n_ranks; i++) {
        const struct delay *delay = &finding->delays[i];

        if ((!delay->is_late && (delay != finding->worst)) ||
            json_array_size(listed) == LISTED_MAX)
            continue;
        json_array_append_new(
            listed,
            json_pack("{s:i, s:s?, s:b, s:f, s:f, s:I}", "rank", delay->rank, "node",
                      lateness->node_of(lateness->arg, delay->rank), "late",
                      (int)delay->is_late, "late_us", delay->us, "late_share",
                      delay->share, "rows", (json_int_t)delay->rows));
    }
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:f, s:o}", "rows", (json_int_t)lateness->n_rows, "known",
        (json_int_t)lateness->n_known, "ranks", (json_int_t)lateness->n_ranks, "late",
        (json_int_t)finding->n_late, "error_us", finding->error_us, "delays", listed);
}

/* A late rank makes its neighbours' transfers look slow, so that counts first. */
static enum verdict_answer put_answer(const struct finding *finding, const char *slow,
                                      struct buf *out, json_t **transfer)
{
    if (finding->n_late > 0)
        return put_late(finding, out);
    if (transfer_find(finding->lateness->transfer, out, transfer))
        return VERDICT_SLOW_TRANSFER;
    return finding->worst ? put_none(finding, slow, out)
                          : put_too_little(finding->lateness, out);
}

json_t *lateness_verdict(const struct lateness *lateness, const char *slow)
{
    struct finding finding = {.lateness = lateness};
    enum verdict_answer answer;
    json_t *verdict, *evidence, *transfer = NULL;
    struct buf out;

    finding.delays = calloc(lateness->n_ranks + 1, sizeof(*finding.delays));
    if (!finding.delays)
        return NULL;
    if (lateness->n_rows >= rows_least(lateness))
        find_delays(&finding);
    buf_init(&out, SENTENCE_MAX);
    answer = put_answer(&finding, slow, &out, &transfer);
    evidence = evidence_json(&finding);
    if (transfer)
        json_object_set_new(evidence, "transfers", json_pack("[o]", transfer));
    verdict =
        verdict_json(VERDICT_LATENESS, answer, out.data ? out.data : "", NULL, evidence);
    buf_release(&out);
    free(finding.delays);
    return verdict;
}
