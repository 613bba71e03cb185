/* budget.c - what the communication of a training step would take */
#include "server/analysis/budget.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/order_stat.h"
#include "common/spec/collective.h"
#include "server/finding/finding.h"

#define BUCKET_BYTES (25.0 * 1024 * 1024) /* PyTorch's DistributedDataParallel */
#define ZERO_MAX 3
#define CASES_MAX 256

/* ---- What is asked ---- */

/* At least so much where it is given; fallback: where it is not. What is made of it has
 * to be a number: nothing that is counted is a millionth. */
static double number_of(const json_t *body, const char *name, double least,
                        double fallback, struct problems *problems)
{
    const json_t *value = json_object_get(body, name);
    char pointer[80];

    if (!value)
        return fallback;
    if (json_is_number(value) && json_number_value(value) >= least &&
        json_number_value(value) < 1e18)
        return json_number_value(value);
    snprintf(pointer, sizeof(pointer), "/%s", name);
    problems_add(problems, pointer, "must be a number %s",
                 least < 1 ? "above 0" : "of 1 or more");
    return fallback;
}

static void add_part(struct budget *budget, enum collective_kind kind, double bytes,
                     double bucket)
{
    budget->parts[budget->n++] = (struct budget_part){
        .collective = (int)kind, .bytes = bytes, .calls = ceil(bytes / bucket)};
}

/* Gradients are averaged once a step; from stage 1 on each rank keeps a part and gathers
 * the rest, at stage 3 the parameters once more. */
static void read_model(const json_t *body, struct budget *budget,
                       struct problems *problems)
{
    double parameters = number_of(body, "parameters", 1, 0, problems);
    double bucket = number_of(body, "bucket_bytes", 1, BUCKET_BYTES, problems), bytes;
    int dtype = dtype_lookup(json_get_str(body, "dtype", "bfloat16"));
    json_int_t zero = json_get_int(body, "zero", 0);

    if (dtype < 0)
        problems_add(problems, "/dtype", "there is no such data type");
    if (zero < 0 || zero > ZERO_MAX ||
        (json_object_get(body, "zero") &&
         !json_is_integer(json_object_get(body, "zero"))))
        problems_add(problems, "/zero", "must be ZeRO's stage, 0 to %d", ZERO_MAX);
    if (problems->count > 0)
        return;
    bytes = parameters * (double)dtype_size((enum dtype)dtype);
    if (zero == 0)
        add_part(budget, COLLECTIVE_ALL_REDUCE, bytes, bucket);
    else
        add_part(budget, COLLECTIVE_REDUCE_SCATTER, bytes, bucket);
    for (json_int_t i = 0; i < (zero == 0 ? 0 : zero == ZERO_MAX ? 2 : 1); i++)
        add_part(budget, COLLECTIVE_ALL_GATHER, bytes, bucket);
}

static void read_part(const json_t *item, struct budget *budget,
                      struct problems *problems)
{
    struct budget_part part = {
        .collective = collective_lookup(json_get_str(item, "collective", "")),
        .bytes = number_of(item, "bytes", 1, 0, problems),
        .calls = number_of(item, "calls", 1, 1, problems)};

    if (part.collective < 0)
        problems_add(problems, "/collectives", "there is no such collective");
    else if (part.bytes <= 0)
        problems_add(problems, "/collectives", "each must say its bytes in a step");
    else
        budget->parts[budget->n++] = part;
}

static void check_names(const json_t *body, struct problems *problems)
{
    static const char *const known[] = {"run",   "step_s", "ranks",        "collectives",
                                        "dtype", "zero",   "bucket_bytes", "parameters"};
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)body, name, value) {
        bool is_known = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_known |= strcmp(name, known[i]) == 0;
        if (!is_known)
            problems_add(problems, "", "there is no field %.80s", name);
    }
}

int budget_read(const json_t *body, struct budget *budget, struct problems *problems)
{
    const json_t *parts = json_object_get(body, "collectives");

    *budget = (struct budget){0};
    check_names(body, problems);
    budget->step_s = number_of(body, "step_s", 1e-9, 0, problems);
    budget->ranks = lround(number_of(body, "ranks", 1, 0, problems));
    if (!json_object_get(body, "parameters") == !parts)
        problems_add(problems, "", "either parameters or collectives must be there");
    else if (parts &&
             (json_array_size(parts) == 0 || json_array_size(parts) > BUDGET_PARTS_MAX))
        problems_add(problems, "/collectives", "must be an array of 1 to %d",
                     BUDGET_PARTS_MAX);
    else if (!parts)
        read_model(body, budget, problems);
    for (size_t i = 0; i < json_array_size(parts) && problems->count == 0; i++)
        read_part(json_array_get(parts, i), budget, problems);
    return problems->count > 0 ? -1 : 0;
}

/* ---- The measured curve ---- */

/* A point's time, or a bound of its interval. */
enum which { MIDDLE, LOW, HIGH };

static double point_us(const struct case_point *point, enum which which)
{
    return which == LOW ? point->low_us : which == HIGH ? point->high_us : point->time_us;
}

/* The time of a call of so many bytes by one case's curve: a straight line between two
 * sizes on logarithms; below the smallest its time, above the largest its bandwidth. */
static double time_us(const struct case_series *series, double bytes, enum which which)
{
    const struct case_point *low = NULL, *high = NULL;

    for (size_t i = 0; i < series->n_points; i++) {
        const struct case_point *point = &series->points[i];

        if (!(point_us(point, which) > 0) || point->size <= 0)
            continue;
        if ((double)point->size <= bytes)
            low = point;
        else if (!high)
            high = point;
    }
    if (!low)
        return high ? point_us(high, which) : 0;
    if (!high)
        return point_us(low, which) * bytes / (double)low->size;
    return point_us(low, which) * pow(point_us(high, which) / point_us(low, which),
                                      log(bytes / (double)low->size) /
                                          log((double)high->size / (double)low->size));
}

/* Of all cases: the median, and the extremes; of one, its own interval. */
struct range {
    double middle, low, high; /* s */
    size_t cases;
};

static double call_us(const struct compare_choice *choice, const struct budget_part *part,
                      enum which which)
{
    size_t n;
    const struct case_series *all =
        case_values_of(choice->run->values, choice->case_no, &n);

    for (size_t i = 0; i < n; i++)
        if (!all[i].is_figure && !json_get_bool(all[i].key, "in_place", false) &&
            strcmp(json_get_str(all[i].key, "collective", ""),
                   collective_name((enum collective_kind)part->collective)) == 0)
            return time_us(&all[i], part->bytes / part->calls, which);
    return 0;
}

static struct range range_of(const struct compare_side *side, size_t ranks,
                             const struct budget_part *part)
{
    const struct compare_choice *one = NULL;
    double times[CASES_MAX];
    struct range out = {0};

    for (size_t i = 0; i < side->n && out.cases < CASES_MAX; i++) {
        double us = compare_choice_ranks(&side->cases[i]) == ranks
                        ? call_us(&side->cases[i], part, MIDDLE)
                        : 0;

        if (us > 0) {
            times[out.cases++] = us * part->calls / 1e6;
            one = &side->cases[i];
        }
    }
    if (out.cases == 0)
        return out;
    order_stat_sort(times, out.cases);
    out.middle = median_of_sorted(times, out.cases);
    out.low = times[0];
    out.high = times[out.cases - 1];
    if (out.cases == 1) {
        out.low = call_us(one, part, LOW) * part->calls / 1e6;
        out.high = call_us(one, part, HIGH) * part->calls / 1e6;
    }
    return out;
}

/* ---- The answer ---- */

static json_t *part_json(const struct budget_part *part, const struct range *range)
{
    json_t *out =
        json_pack("{s:s, s:f, s:f, s:I}", "collective",
                  collective_name((enum collective_kind)part->collective), "bytes",
                  part->bytes, "calls", part->calls, "cases", (json_int_t)range->cases);

    if (range->cases > 0) {
        json_object_set_new(out, "time_s", json_real(range->middle));
        json_object_set_new(out, "time_low_s", json_real(range->low));
        json_object_set_new(out, "time_high_s", json_real(range->high));
    }
    return out;
}

/* Its parts, and together; missing: a collective that has no times. */
static json_t *parts_json(const struct budget *budget, const struct compare_side *side,
                          size_t ranks, struct range *all, const char **missing)
{
    json_t *parts = json_array();

    for (size_t i = 0; i < budget->n; i++) {
        struct range range = range_of(side, ranks, &budget->parts[i]);

        all->middle += range.middle;
        all->low += range.low;
        all->high += range.high;
        all->cases = range.cases < all->cases ? range.cases : all->cases;
        if (range.cases == 0)
            *missing = collective_name((enum collective_kind)budget->parts[i].collective);
        json_array_append_new(parts, part_json(&budget->parts[i], &range));
    }
    return parts;
}

/* Of the cases on as many ranks as are asked about, or on the most that a case had: those
 * of a run over node counts say something else each. */
static json_t *answer_of(const struct budget *budget, const struct compare_side *side,
                         const json_t *run)
{
    struct range all = {.cases = SIZE_MAX};
    struct finding finding = finding_begin();
    const char *missing = NULL;
    size_t most = 0, ranks;
    json_t *parts;

    for (size_t i = 0; i < side->n; i++)
        if (compare_choice_ranks(&side->cases[i]) > most)
            most = compare_choice_ranks(&side->cases[i]);
    ranks = budget->ranks > 0 ? (size_t)budget->ranks : most;
    parts = parts_json(budget, side, ranks, &all, &missing);
    finding_put(&finding, "{s:I, s:I, s:s*}", "$ranks", (json_int_t)ranks, "$most",
                (json_int_t)most, "$missing", missing);
    if (!missing)
        finding_put(&finding, "{s:f, s:f, s:f, s:I, s:b}", "time_s", all.middle,
                    "time_low_s", all.low, "time_high_s", all.high, "cases",
                    (json_int_t)all.cases, "$is_range", all.low < all.high);
    if (!missing && budget->step_s > 0)
        finding_put(&finding, "{s:f, s:f}", "step_s", budget->step_s, "$part",
                    all.middle / budget->step_s);
    return json_pack("{s:O?, s:I, s:o, s:o}", "run", json_object_get(run, "id"), "ranks",
                     (json_int_t)ranks, "verdict",
                     finding_end(&finding, missing ? MESSAGE_BUDGET_OPEN : MESSAGE_BUDGET,
                                 verdict_mark_of(run)),
                     "parts", parts);
}

json_t *budget_json(const struct budget *budget, const struct compare_run *run)
{
    struct compare_side side = {0};
    json_t *answer = NULL;
    struct error err;

    if (compare_side_take(&side, &(struct compare_ask){run, -1}, NULL, &err) == 0)
        answer = answer_of(budget, &side, run->doc);
    compare_side_release(&side);
    return answer;
}
