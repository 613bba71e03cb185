/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c - measures the duration of a run's rows and estimates the run's remaining
 * time */
#include "server/runs/pace.h"

#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

void pace_init(struct pace *pace)
{
    memset(pace, 0, sizeof(*pace));
    pace->last_row = -1;
}

struct pace *pace_create(void)
{
    struct pace *pace = memory_zeroed(1, sizeof(*pace), "the pace of a run");

    pace_init(pace);
    return pace;
}

void pace_case_begins(struct pace *pace, int64_t time_ms)
{
    pace->case_ms = time_ms;
    pace->last_ms = 0;
    pace->last_row = -1;
}

void pace_case_ends(struct pace *pace, int64_t time_ms, bool is_completed)
{
    if (pace->case_ms && is_completed) {
        pace->cases_s += (double)(time_ms - pace->case_ms) / 1e3;
        pace->cases++;
    }
    pace->case_ms = 0;
}

static int bucket_of(double bytes)
{
    int bucket = bytes >= 2.0 ? ilogb(bytes) : 0;

    return bucket < PACE_BUCKETS ? bucket : PACE_BUCKETS - 1;
}

void pace_result(struct pace *pace, int64_t time_ms, const json_t *about, int64_t size,
                 int64_t row)
{
    int kind = collective_lookup(json_get_str(about, "collective", ""));
    double bytes = (double)size;
    struct pace_bucket *bucket;

    if (kind < 0 || !pace->case_ms)
        return;
    if (pace->last_ms) {
        bucket = &pace->buckets[kind][bucket_of(bytes)];
        bucket->bytes += bytes;
        bucket->seconds += (double)(time_ms - pace->last_ms) / 1e3;
        bucket->rows++;
    } else {
        pace->startup_s += (double)(time_ms - pace->case_ms) / 1e3;
        pace->startups++;
    }
    pace->last_ms = time_ms;
    pace->last_row = row < 0 ? pace->last_row + 1 : row;
}

/* ---- Estimated duration of a row ---- */

/* The mean size and duration of a collective's rows in each bucket, sorted by size. */
struct curve {
    double bytes[PACE_BUCKETS], seconds[PACE_BUCKETS];
    size_t n;
};

static void add_bucket(struct curve *curve, const struct pace_bucket *sum)
{
    if (sum->rows == 0)
        return;
    curve->bytes[curve->n] = sum->bytes / sum->rows;
    curve->seconds[curve->n++] = sum->seconds / sum->rows;
}

static void sum_bucket(const struct pace *pace, int i, struct pace_bucket *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        sum->bytes += pace->buckets[kind][i].bytes;
        sum->seconds += pace->buckets[kind][i].seconds;
        sum->rows += pace->buckets[kind][i].rows;
    }
}

/* Compute the collective's curve. For sizes that the collective has not reached yet, use
 * the mean of all collectives. */
static void make_curve(const struct pace *pace, int kind, struct curve *curve)
{
    struct pace_bucket sum;

    curve->n = 0;
    for (int i = 0; i < PACE_BUCKETS; i++) {
        sum = pace->buckets[kind][i];
        if (sum.rows == 0)
            sum_bucket(pace, i, &sum);
        add_bucket(curve, &sum);
    }
}

static double on_line(const struct curve *curve, size_t i, double bytes)
{
    double width = curve->bytes[i + 1] - curve->bytes[i];
    double slope =
        width > 0.0 ? (curve->seconds[i + 1] - curve->seconds[i]) / width : 0.0;

    return curve->seconds[i] + slope * (bytes - curve->bytes[i]);
}

/* Return the estimated duration of a row in seconds. The result is negative if the size
 * is too far above all measured sizes (PACE_REACH). *is_beyond is set if the size is
 * larger than any measured size. */
static double row_seconds(const struct curve *curve, double bytes, bool *is_beyond)
{
    size_t last = curve->n - 1, i = 0;
    double seconds;

    if (curve->n == 0 || bytes > curve->bytes[last] * PACE_REACH)
        return -1.0;
    if (bytes <= curve->bytes[0])
        return curve->seconds[0];
    /* Sizes in one bucket count as equal. */
    if (bucket_of(bytes) > bucket_of(curve->bytes[last]))
        *is_beyond = true;
    if (last == 0)
        return *is_beyond ? -1.0 : curve->seconds[0];
    while (i + 2 < curve->n && curve->bytes[i + 1] < bytes)
        i++;
    seconds = on_line(curve, i, bytes);
    return seconds > curve->seconds[i] || bytes <= curve->bytes[last]
               ? seconds
               : curve->seconds[last];
}

/* ---- The rest of a run ---- */

struct outlook {
    const struct series_plan *plan;
    size_t rows, per_cycle, per_line;
    /* duration of all rows of a collective's line, seconds */
    double line_s[COLLECTIVE_COUNT];
    struct curve curves[COLLECTIVE_COUNT];
    bool is_beyond;
};

/* Returns -1 if a size is too far above all measured sizes. */
static int outlook_init(struct outlook *outlook, const struct pace *pace,
                        const struct series_plan *plan)
{
    size_t cycles = plan->cycles > 1 ? (size_t)plan->cycles : 1;

    memset(outlook, 0, sizeof(*outlook));
    outlook->plan = plan;
    outlook->rows = series_rows(plan);
    outlook->per_cycle = outlook->rows / cycles;
    outlook->per_line = plan->n_sizes *
                        ((plan->out_of_place ? 1 : 0) + (plan->in_place ? 1 : 0)) *
                        (plan->n_groups > 1 ? (size_t)plan->n_groups : 1);
    for (size_t i = 0; i < plan->n_collectives; i++) {
        enum collective_kind kind = plan->collectives[i];
        double sum = 0.0;

        make_curve(pace, (int)kind, &outlook->curves[kind]);
        for (size_t k = 0; k < plan->n_sizes; k++) {
            double seconds = row_seconds(&outlook->curves[kind], (double)plan->sizes[k],
                                         &outlook->is_beyond);

            if (seconds < 0.0)
                return -1;
            sum += seconds;
        }
        outlook->line_s[kind] =
            sum * (double)outlook->per_line / (double)(plan->n_sizes ? plan->n_sizes : 1);
    }
    return 0;
}

/* Return the estimated duration of the lines between the rows `from` and `end`, in
 * seconds. A line consists of the rows with the same collective, type, reduction and
 * root. Both arguments are the first row of a line. */
static double lines_seconds(const struct outlook *outlook, size_t from, size_t end)
{
    struct series_row row;
    double sum = 0.0;

    for (; from < end && series_row_at(outlook->plan, from, &row);
         from += outlook->per_line)
        sum += outlook->line_s[row.collective];
    return sum;
}

/* Return the estimated duration of a case's rows from row number `from` on, in seconds.
 */
static double rows_seconds(struct outlook *outlook, size_t from)
{
    size_t cycle_end, line_end, cycles_left;
    struct series_row row;
    double sum = 0.0;

    if (from >= outlook->rows || outlook->per_line == 0)
        return 0.0;
    cycle_end = (from / outlook->per_cycle + 1) * outlook->per_cycle;
    line_end =
        from + (outlook->per_line - from % outlook->per_cycle % outlook->per_line) %
                   outlook->per_line;
    for (; from < line_end && series_row_at(outlook->plan, from, &row); from++)
        sum += row_seconds(&outlook->curves[row.collective], (double)row.size,
                           &outlook->is_beyond);
    sum += lines_seconds(outlook, from, cycle_end);
    cycles_left = (outlook->rows - cycle_end) / outlook->per_cycle;
    if (cycles_left > 0)
        sum += lines_seconds(outlook, 0, outlook->per_cycle) * (double)cycles_left;
    return sum;
}

static double at_least_zero(double seconds)
{
    return seconds > 0.0 ? seconds : 0.0;
}

static double since(int64_t then_ms, int64_t now_ms)
{
    return then_ms ? (double)(now_ms - then_ms) / 1e3 : 0.0;
}

/* Estimate from the duration of completed cases, because a program provides no other
 * data. */
static double eta_of_program(const struct pace *pace, size_t cases_ahead, int64_t now_ms,
                             const char **basis)
{
    double each;

    if (pace->cases == 0)
        return -1.0;
    *basis = "cases";
    each = pace->cases_s / pace->cases;
    return each * (double)cases_ahead +
           (pace->case_ms ? at_least_zero(each - since(pace->case_ms, now_ms)) : 0.0);
}

double pace_eta(const struct pace *pace, const struct series_plan *plan,
                size_t cases_ahead, int64_t now_ms, const char **basis)
{
    struct outlook outlook;
    double startup, left = 0.0, whole = 0.0;

    if (!plan)
        return eta_of_program(pace, cases_ahead, now_ms, basis);
    if (pace->startups == 0 || outlook_init(&outlook, pace, plan))
        return -1.0;
    startup = pace->startup_s / pace->startups;
    if (cases_ahead > 0 || pace->last_row < 0)
        whole = startup + rows_seconds(&outlook, 0);
    if (pace->case_ms && pace->last_row < 0)
        left = at_least_zero(whole - since(pace->case_ms, now_ms));
    else if (pace->case_ms)
        left = at_least_zero(rows_seconds(&outlook, (size_t)pace->last_row + 1) -
                             since(pace->last_ms, now_ms));
    *basis = outlook.is_beyond ? "extrapolated" : "measured";
    return left + whole * (double)cases_ahead;
}
