/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - estimates the communication time of a training step */
#include "server/analysis/budget.h"

#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/spec/run_spec_parts.h"
#include "common/spec/spec_field.h"
#include "server/finding/finding.h"

#define AT(member) .offset = offsetof(struct budget, member)
#define NUMBER(member, low) .kind = &spec_real, AT(member), .least = (low), .most = 1e18

/* clang-format off */
static const struct spec_field table[] = {
    {"run", NULL, SPEC_REQUIRED, .kind = &spec_run_id, AT(run)},
    {"step_s", NULL, 0, NUMBER(step_s, 1e-9)},
    {"ranks", NULL, 0, .kind = &spec_integer, AT(ranks), .min = 1, .max = 1000000},
    {"parameters", NULL, SPEC_REQUIRED, NUMBER(parameters, 1)},
    {"dtype", "\"bfloat16\"", 0, .kind = &spec_name, AT(dtype), .names = &spec_dtype_names},
    {"zero", "0", 0, .kind = &spec_integer, AT(zero), .min = 0, .max = 3},
    {"bucket_bytes", "26214400", 0, NUMBER(bucket_bytes, 1)}, /* default of PyTorch's DistributedDataParallel */
};
/* clang-format on */

const struct spec_fields budget_fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object with run and parameters"};

/* Interpolate the time of one call of a case on a log-log line between two sizes. Below
 * the smallest size, use that size's time. Above the largest size, use that size's
 * bandwidth. */
static double time_us(const struct case_series *series, double bytes)
{
    const struct case_point *low = NULL, *high = NULL;

    for (size_t i = 0; i < series->n_points; i++) {
        const struct case_point *point = &series->points[i];

        if (!(point->time_us > 0) || point->size <= 0)
            continue;
        if ((double)point->size <= bytes)
            low = point;
        else if (!high)
            high = point;
    }
    if (!low)
        return high ? high->time_us : 0;
    if (!high)
        return low->time_us * bytes / (double)low->size;
    return low->time_us * pow(high->time_us / low->time_us,
                              log(bytes / (double)low->size) /
                                  log((double)high->size / (double)low->size));
}

static double call_us(const struct compare_choice *choice, const char *collective,
                      double bytes)
{
    size_t n;
    const struct case_series *all =
        case_values_of(choice->run->values, choice->case_no, &n);

    for (size_t i = 0; i < n; i++)
        if (!all[i].is_figure && !json_get_bool(all[i].key, "in_place", false) &&
            strcmp(json_get_str(all[i].key, "collective", ""), collective) == 0)
            return time_us(&all[i], bytes);
    return 0;
}

struct sum {
    const struct compare_side *side;
    /* Use only cases with this number of ranks, because a run over several node counts
     * also contains other cases. */
    size_t ranks;
    double bytes, calls; /* bytes and number of calls of each collective */
    double s[3];         /* time in s: median, fastest and slowest case */
    json_t *missing;     /* names of collectives that were not measured */
    json_t *parts;
};

/* Add a name, unless it is the last in the list: ZeRO stage 3 gathers twice. */
static void note_missing(json_t *missing, const char *name)
{
    size_t n = json_array_size(missing);

    if (n == 0 || strcmp(json_string_value(json_array_get(missing, n - 1)), name) != 0)
        json_array_append_new(missing, json_string(name));
}

static void add_part(struct sum *sum, enum collective_kind kind)
{
    double *times = memory_zeroed(sum->side->n + 1, sizeof(*times), "a budget");
    double s[3];
    size_t n = 0;

    for (size_t i = 0; i < sum->side->n; i++) {
        const struct compare_choice *one = &sum->side->cases[i];
        double us = call_us(one, collective_name(kind), sum->bytes / sum->calls);

        if (us > 0 && compare_choice_ranks(one) == sum->ranks)
            times[n++] = us * sum->calls / 1e6;
    }
    if (n == 0)
        note_missing(sum->missing, collective_name(kind));
    order_stat_sort(times, n);
    s[0] = n > 0 ? median_of_sorted(times, n) : 0;
    s[1] = times[0];
    s[2] = times[n > 0 ? n - 1 : 0];
    for (int i = 0; i < 3; i++)
        sum->s[i] += s[i];
    json_array_append_new(sum->parts,
                          json_pack("{s:s, s:f, s:f, s:I, s:f, s:f, s:f}", "collective",
                                    collective_name(kind), "bytes", sum->bytes, "calls",
                                    sum->calls, "cases", (json_int_t)n, "time_s", s[0],
                                    "time_low_s", s[1], "time_high_s", s[2]));
    free(times);
}

/* Gradients are averaged once per step. From ZeRO stage 1 on, each rank keeps a part and
 * gathers the rest. Stage 3 gathers the parameters a second time. */
static void add_parts(struct sum *sum, const struct budget *budget)
{
    sum->bytes = budget->parameters * (double)dtype_size((enum dtype)budget->dtype);
    sum->calls = ceil(sum->bytes / budget->bucket_bytes);
    add_part(sum, budget->zero ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE);
    for (long i = 0; i < (budget->zero + 1) / 2; i++)
        add_part(sum, COLLECTIVE_ALL_GATHER);
}

json_t *budget_json(const struct budget *budget, const struct compare_run *run)
{
    struct compare_side side = {0};
    struct sum sum = {.side = &side, .parts = json_array(), .missing = json_array()};
    struct finding finding = finding_begin();
    size_t most = 0;
    bool is_open;
    struct error err;

    compare_side_take(&side, &(struct compare_ask){run, -1}, NULL, &err);
    for (size_t i = 0; i < side.n; i++)
        if (compare_choice_ranks(&side.cases[i]) > most)
            most = compare_choice_ranks(&side.cases[i]);
    sum.ranks = budget->ranks > 0 ? (size_t)budget->ranks : most;
    add_parts(&sum, budget);
    compare_side_release(&side);
    is_open = json_array_size(sum.missing) > 0;
    finding_put(&finding, "{s:I, s:I, s:o}", "$ranks", (json_int_t)sum.ranks, "$most",
                (json_int_t)most, "$missing", sum.missing);
    if (!is_open)
        finding_put(&finding, "{s:f, s:f, s:f, s:b}", "time_s", sum.s[0], "time_low_s",
                    sum.s[1], "time_high_s", sum.s[2], "$is_range", sum.s[1] < sum.s[2]);
    if (!is_open && budget->step_s > 0)
        finding_put(&finding, "{s:f, s:f}", "step_s", budget->step_s, "$part",
                    sum.s[0] / budget->step_s);
    return json_pack("{s:s, s:I, s:o, s:o}", "run", budget->run, "ranks",
                     (json_int_t)sum.ranks, "verdict",
                     finding_end(&finding, is_open ? MESSAGE_BUDGET_OPEN : MESSAGE_BUDGET,
                                 verdict_mark_of(run->doc)),
                     "parts", sum.parts);
}
