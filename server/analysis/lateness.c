/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.c - decides if a rank arrives late at operations for which all ranks wait */
#include "server/analysis/lateness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "common/spec/collective.h"
#include "server/analysis/stats.h"
#include "server/finding/finding.h"

#define ROWS_MIN 8
/* Smallest delay in us that counts: the time to leave a barrier */
#define LATE_MIN_US 5.0
/* A delay must exceed this multiple of the clock error, which covers the error itself and
 * the time of a message. The last rank to reach a barrier leaves it first, so a message
 * takes no longer than the error. */
#define ERRORS 2
/* A delay must exceed this multiple of the ranks' usual spread. */
#define APART 3
#define NEARLY_ALL 0.9 /* a late rank must be late in this fraction of the rows */
/* Maximum probability that, among equally fast ranks, any rank is late this often by
 * chance. */
#define CHANCE_MAX 0.001
#define LISTED_MAX 16
/* Number of rows kept. The minimum is enough for a verdict. More rows are kept if they
 * contain at most FIGURES values. */
#define ROWS_KEPT_MIN 32
#define ROWS_KEPT_MAX 512
#define FIGURES 65536

/* A row in which clocks agree well enough to detect a delay. */
struct row {
    double time_us,
        error_us;    /* time of the slowest rank, and upper limit of the clock error */
    double apart_us; /* median distance of the ranks' arrivals from the median arrival */
    double *late_us; /* delay of each rank */
};

struct lateness {
    size_t n_ranks, n_rows, rows_max;
    double late_min; /* minimum delay, as a fraction of a call's time */
    rank_node *node_of;
    const void *arg;
    /* Rows that report arrivals, including rows with a large clock error */
    size_t n_known;
    double least_error_us; /* smallest clock error of these rows */
    struct row rows[ROWS_KEPT_MAX];
    double *late_us; /* storage for the rows' late_us */
};

/* The evidence about one rank. */
struct delay {
    int rank;
    double us, share; /* medians over the faster half of the rows */
    /* number of rows in which the delay exceeded the clock error and the spread */
    size_t rows;
    bool is_late;
};

static size_t rows_kept(size_t ranks)
{
    size_t rows = ranks > 0 ? FIGURES / ranks : 0;

    if (rows < ROWS_KEPT_MIN)
        return ROWS_KEPT_MIN;
    return rows < ROWS_KEPT_MAX ? rows : ROWS_KEPT_MAX;
}

struct lateness *lateness_create(size_t ranks, double late, rank_node *node_of,
                                 const void *arg)
{
    struct lateness *lateness = memory_zeroed(1, sizeof(*lateness), "late ranks");

    *lateness = (struct lateness){.n_ranks = ranks,
                                  .rows_max = rows_kept(ranks),
                                  .late_min = late,
                                  .node_of = node_of,
                                  .arg = arg,
                                  .least_error_us = HUGE_VAL};
    lateness->late_us =
        memory_zeroed(lateness->rows_max * ranks + 1, sizeof(double), "late ranks");
    return lateness;
}

void lateness_destroy(struct lateness *lateness)
{
    if (!lateness)
        return;
    free(lateness->late_us);
    free(lateness);
}

static bool is_synchronising(const json_t *row)
{
    int kind = collective_lookup(json_get_str(row, "collective", ""));

    return kind >= 0 && kind != COLLECTIVE_SENDRECV &&
           !collective_facts((enum collective_kind)kind)->is_rooted;
}

static void read_times(const json_t *late, struct row *row)
{
    size_t n = json_array_size(late);
    double *distances = memory_zeroed(n, sizeof(*distances), "late ranks");

    for (size_t i = 0; i < n; i++) {
        row->late_us[i] = json_number_value(json_array_get(late, i));
        distances[i] = fabs(row->late_us[i]);
    }
    order_stat_sort(distances, n);
    row->apart_us = distances[(n - 1) / 2];
    free(distances);
}

void lateness_add(struct lateness *lateness, const json_t *json)
{
    const json_t *late = json_object_get(json, "late_us");
    size_t n = lateness->n_ranks;
    struct row row = {.late_us = lateness->late_us + lateness->n_rows * n};

    if (n < 2 || json_array_size(late) != n || json_object_get(json, "group") ||
        lateness->n_rows == lateness->rows_max || !is_synchronising(json))
        return;
    row.time_us = json_get_num(json, "time_max_us", 0);
    row.error_us = json_get_num(json, "late_error_us", 0);
    lateness->n_known++;
    lateness->least_error_us = fmin(lateness->least_error_us, row.error_us);
    if (!(row.time_us > 0) || ERRORS * row.error_us > lateness->late_min * row.time_us)
        return;
    read_times(late, &row);
    lateness->rows[lateness->n_rows++] = row;
}

/* ---- One rank compared with the others ---- */

static int by_time(const void *a, const void *b)
{
    const struct row *const *x = a, *const *y = b;

    return ((*x)->time_us > (*y)->time_us) - ((*x)->time_us < (*y)->time_us);
}

/* Sort the rows by the time of a call. */
static void order_rows(const struct lateness *lateness, const struct row **order)
{
    for (size_t i = 0; i < lateness->n_rows; i++)
        order[i] = &lateness->rows[i];
    qsort(order, lateness->n_rows, sizeof(*order), by_time);
}

static double median_late(const struct row *const *rows, size_t n, size_t rank,
                          bool as_share)
{
    double values[ROWS_KEPT_MAX];

    for (size_t i = 0; i < n; i++)
        values[i] = rows[i]->late_us[rank] / (as_share ? rows[i]->time_us : 1);
    order_stat_sort(values, n);
    return median_of_sorted(values, n);
}

/* Return the probability that any of the ranks arrives last in k or more of n rows by
 * chance. The tail of the binomial distribution is an incomplete beta function. */
static double chance_of(size_t ranks, size_t k, size_t n)
{
    return k == 0 ? 1
                  : (double)ranks *
                        stats_beta(1 / (double)ranks, (double)k, (double)(n - k + 1));
}

/* Return the smallest number of rows that rules out chance if a rank is late in all of
 * them. */
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

/* Judge a rank. order: at least rows_least() rows, ordered by time. */
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

struct delays {
    const struct lateness *lateness;
    double error_us;     /* median clock error of the rows */
    struct delay *items; /* by rank */
    size_t n_late;
    /* The latest of the late ranks or, if none is late, of all ranks */
    const struct delay *worst;
};

static double median_error(const struct lateness *lateness)
{
    double values[ROWS_KEPT_MAX];

    for (size_t i = 0; i < lateness->n_rows; i++)
        values[i] = lateness->rows[i].error_us;
    order_stat_sort(values, lateness->n_rows);
    return median_of_sorted(values, lateness->n_rows);
}

static void find_delays(struct delays *delays)
{
    const struct lateness *lateness = delays->lateness;
    const struct row *order[ROWS_KEPT_MAX];

    order_rows(lateness, order);
    delays->error_us = median_error(lateness);
    for (size_t i = 0; i < lateness->n_ranks; i++) {
        struct delay *delay = &delays->items[i];

        delay->rank = (int)i;
        judge(lateness, order, delay);
        delays->n_late += delay->is_late;
        if (!delays->worst || delay->is_late > delays->worst->is_late ||
            (delay->is_late == delays->worst->is_late &&
             delay->share > delays->worst->share))
            delays->worst = delay;
    }
}

/* ---- Reporting ---- */

static json_t *delay_json(const struct lateness *lateness, const struct delay *delay)
{
    return json_pack("{s:i, s:s?, s:b, s:f, s:f, s:I}", "rank", delay->rank, "node",
                     lateness->node_of(lateness->arg, delay->rank), "late",
                     (int)delay->is_late, "late_us", delay->us, "late_share",
                     delay->share, "rows", (json_int_t)delay->rows);
}

/* List the late ranks or, if none is late, the rank with the longest delay. */
static json_t *delays_json(const struct delays *delays)
{
    json_t *listed = json_array();

    for (size_t i = 0; delays->worst && i < delays->lateness->n_ranks; i++) {
        const struct delay *delay = &delays->items[i];

        if ((delay->is_late || delay == delays->worst) &&
            json_array_size(listed) < LISTED_MAX)
            json_array_append_new(listed, delay_json(delays->lateness, delay));
    }
    return listed;
}

static json_t *say_late(const struct delays *delays, struct finding *finding)
{
    const struct lateness *lateness = delays->lateness;

    for (size_t i = 0; i < lateness->n_ranks; i++)
        if (delays->items[i].is_late)
            finding_name(finding, lateness->node_of(lateness->arg, (int)i));
    finding_put(finding, "{s:o, s:I}", "$worst",
                delay_json(delays->lateness, delays->worst), "$others",
                (json_int_t)delays->n_late - 1);
    return finding_end(finding, MESSAGE_RANK_LATE, NULL);
}

static json_t *say_none(const struct delays *delays, struct finding *finding)
{
    finding_put(finding, "{s:f, s:f}", "$late_us", fmax(delays->worst->us, 0), "$share",
                fmax(delays->worst->share, 0));
    return finding_end(finding, MESSAGE_NO_RANK_LATE, NULL);
}

static json_t *say_few(const struct lateness *lateness, struct finding *finding)
{
    size_t needed = rows_least(lateness);

    finding_put(finding, "{s:I}", "$needed", (json_int_t)needed);
    if (lateness->n_known >= needed)
        finding_put(finding, "{s:I, s:f}", "$unclear",
                    (json_int_t)(lateness->n_known - lateness->n_rows), "$best_us",
                    lateness->least_error_us);
    return finding_end(finding, MESSAGE_LATE_FEW_ROWS, NULL);
}

static json_t *say(const struct delays *delays)
{
    const struct lateness *lateness = delays->lateness;
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:I, s:I, s:I, s:I, s:f, s:o}", "rows",
                (json_int_t)lateness->n_rows, "known", (json_int_t)lateness->n_known,
                "ranks", (json_int_t)lateness->n_ranks, "late",
                (json_int_t)delays->n_late, "error_us", delays->error_us, "delays",
                delays_json(delays));
    if (delays->n_late > 0)
        return say_late(delays, &finding);
    return delays->worst ? say_none(delays, &finding) : say_few(lateness, &finding);
}

json_t *lateness_verdict(const struct lateness *lateness)
{
    struct delays delays = {.lateness = lateness};
    json_t *verdict;

    delays.items = memory_zeroed(lateness->n_ranks + 1, sizeof(*delays.items),
                                 "the delays of ranks");
    if (lateness->n_rows >= rows_least(lateness))
        find_delays(&delays);
    verdict = say(&delays);
    free(delays.items);
    return verdict;
}
