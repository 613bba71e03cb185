/* SPDX-License-Identifier: Apache-2.0 */
/* gate_metric.c - checks a threshold on a metric that a program prints */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/gate_check.h"

static double value_of(const struct summary_figure *figure, enum threshold_use use)
{
    switch (use) {
    case THRESHOLD_USE_MEDIAN:
        return figure->median;
    case THRESHOLD_USE_MEAN:
        return figure->mean;
    case THRESHOLD_USE_MIN:
        return figure->min;
    case THRESHOLD_USE_MAX:
        return figure->max;
    case THRESHOLD_USE_LAST:
        return figure->last;
    }
    return (double)NAN;
}

/* The values of a metric: one for each rank, case and set of labels. */
struct values {
    size_t n, beyond;
    size_t cases; /* number of cases with values; figures arrive sorted by case */
    int last_case;
    uint64_t not_numbers;
    const struct summary_figure *worst;
    double value, room;
};

static void take(struct values *values, const struct threshold *threshold,
                 const struct summary_figure *figure)
{
    double value = value_of(figure, threshold->use);
    double room = gate_room(threshold, value);

    values->cases += figure->case_no != values->last_case;
    values->last_case = figure->case_no;
    values->not_numbers += figure->skipped + !isfinite(value);
    if (figure->skipped > 0 || !isfinite(value))
        return;
    values->n++;
    values->beyond += !gate_is_within(threshold, value);
    if (!values->worst || room < values->room) {
        values->worst = figure;
        values->value = value;
        values->room = room;
    }
}

static void take_all(struct values *values, const struct gate_run *run,
                     const struct threshold *threshold)
{
    for (size_t i = 0; i < run->summary->n_figures; i++) {
        const struct summary_figure *figure = &run->summary->figures[i];

        if (strcmp(json_get_str(figure->key, "metric", ""), threshold->metric) == 0)
            take(values, threshold, figure);
    }
    values->not_numbers +=
        (uint64_t)json_get_int(run->summary->no_numbers, threshold->metric, 0);
}

/* Return the reason why the check cannot pass, or "". */
static const char *find_gap(const struct values *values, const struct gate_run *run,
                            const struct threshold *threshold, char out[GATE_TEXT_MAX])
{
    size_t cases = json_array_size(json_object_get(run->doc, "cases"));

    out[0] = '\0';
    if (values->n == 0 && values->not_numbers == 0)
        snprintf(out, GATE_TEXT_MAX, "the run reported no figure %s", threshold->metric);
    else if (values->not_numbers > 0)
        snprintf(out, GATE_TEXT_MAX, "%llu of the values of %s are not numbers",
                 (unsigned long long)values->not_numbers, threshold->metric);
    else if (values->cases < cases)
        snprintf(out, GATE_TEXT_MAX, "%zu of %zu cases reported no figure %s",
                 cases - values->cases, cases, threshold->metric);
    else if (run->summary->n_figures < run->summary->figures_total)
        snprintf(out, GATE_TEXT_MAX, "the run contains too many figures to check");
    return out;
}

static json_t *evidence(const struct values *values, const struct threshold *threshold)
{
    json_t *out = gate_evidence(threshold, values->value);

    json_object_set_new(out, "metric", json_string(threshold->metric));
    json_object_set_new(out, "use", json_string(threshold_use_name(threshold->use)));
    json_object_set_new(out, "points", json_integer((json_int_t)values->n));
    json_object_set_new(out, "beyond", json_integer((json_int_t)values->beyond));
    json_object_set_new(out, "case", json_integer(values->worst->case_no));
    if (values->worst->rank >= 0)
        json_object_set_new(out, "rank", json_integer(values->worst->rank));
    return out;
}

void gate_check_metric(const struct gate_run *run, const struct threshold *threshold,
                       struct gate_check *check)
{
    struct values values = {.last_case = -1};
    char gap[GATE_TEXT_MAX];
    const char *unit;

    take_all(&values, run, threshold);
    find_gap(&values, run, threshold, gap);
    if (values.worst)
        check->evidence = evidence(&values, threshold);
    if (values.beyond == 0 && gap[0]) {
        gate_not_evaluated(check, "%s", gap);
        return;
    }
    assert(values.worst);
    check->answer = values.beyond > 0 ? VERDICT_FAIL : VERDICT_PASS;
    unit = json_get_str(values.worst->key, "unit", "");
    gate_say(check, threshold,
             "{use} {metric} is {value}{unit}[ on rank {rank}], " GATE_BOUNDS
             " required[{are_beyond?}; {beyond} of {points} are out of bounds]",
             json_pack("{s:o, s:b}", "unit", json_sprintf("%s%s", *unit ? " " : "", unit),
                       "are_beyond", values.beyond > 0 && values.n > 1));
}
