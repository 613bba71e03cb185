/* SPDX-License-Identifier: Apache-2.0 */
/* compare_json.c - builds the API's document for a comparison */
#include "server/analysis/compare_json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "server/analysis/compare_sentence.h"
#include "server/analysis/differences.h"
#include "server/finding/finding.h"

#define HEAD_NAME_MAX 80

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void put_change(json_t *out, const struct compare_change *change)
{
    json_object_set_new(out, "base", number(change->base));
    json_object_set_new(out, "head", number(change->head));
    json_object_set_new(out, "change", number(change->change));
    json_object_set_new(out, "interval",
                        isfinite(change->low) && isfinite(change->high)
                            ? json_pack("[f, f]", change->low, change->high)
                            : json_null());
    json_object_set_new(out, "p", number(change->p));
}

static json_t *states_json(const struct compare_band *band)
{
    if (!band->states.found || (!band->base_varies && !band->head_varies))
        return json_null();
    return json_pack("{s:f, s:b, s:b}", "apart", exp(band->states.apart), "in_base",
                     band->base_varies, "in_head", band->head_varies);
}

static json_t *stretches_json(const struct compare_band *band)
{
    json_t *list = json_array();

    for (size_t i = 0; i < band->n_stretches; i++) {
        const struct compare_stretch *one = &band->stretches[i];

        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:I, s:f, s:f}", "faster",
                                        one->is_head_faster ? "head" : "base", "from",
                                        (json_int_t)one->from, "to", (json_int_t)one->to,
                                        "least", one->least, "most", one->most));
    }
    return list;
}

static json_t *band_json(const struct compare *compare, const struct compare_band *band)
{
    json_t *out = json_pack("{s:o, s:O, s:s?, s:s, s:b, s:I}", "series",
                            compare_series(band), "about", band->about, "band",
                            band->band == BANDS ? NULL : band_names[band->band], "figure",
                            band->figure, "higher_is_better", band->higher_is_better,
                            "sizes", (json_int_t)band->sizes);

    put_change(out, &band->change);
    json_object_set_new(out, "usual", number(band->usual));
    json_object_set_new(out, "stretches", stretches_json(band));
    json_object_set_new(out, "answer", json_string(verdict_answer_name(band->answer)));
    json_object_set_new(out, "reason", json_string(compare_reason_name(band->reason)));
    json_object_set_new(out, "why", compare_why(compare, band));
    json_object_set_new(out, "states", states_json(band));
    json_object_set_new(out, "repeats_needed",
                        band->repeats_needed
                            ? json_integer((json_int_t)band->repeats_needed)
                            : json_null());
    json_object_set_new(out, "runs_needed",
                        band->runs_needed ? json_integer((json_int_t)band->runs_needed)
                                          : json_null());
    return out;
}

static json_t *bands_json(const struct compare *compare)
{
    json_t *list = json_array();

    for (size_t i = 0; i < compare->n_bands; i++)
        json_array_append_new(list, band_json(compare, &compare->bands[i]));
    return list;
}

/* Return a size's object, with the members that identify its series. */
static json_t *size_json(const struct compare *compare, const struct compare_size *size)
{
    const struct compare_band *band = &compare->bands[size->band];
    json_t *out = json_copy(size->series->key);

    json_object_set_new(out, "series", compare_series(band));
    json_object_set_new(out, "size",
                        size->size < 0 ? json_null() : json_integer(size->size));
    json_object_set_new(out, "figure", json_string(band->figure));
    put_change(out, &size->change);
    return out;
}

static json_t *sizes_json(const struct compare *compare)
{
    json_t *list = json_array();

    for (size_t i = 0; i < compare->n_sizes; i++)
        json_array_append_new(list, size_json(compare, &compare->sizes[i]));
    return list;
}

/* ---- Sides ---- */

/* Return the members of the run's document that describe the run. Only documents of runs
 * that were not measured here contain `emulated` or `imported`. */
static json_t *run_json(const json_t *doc)
{
    static const char *const members[] = {"id",         "name",     "created", "backend",
                                          "world_size", "emulated", "imported"};
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(doc, members[i]);

        if (value)
            json_object_set(out, members[i], value);
    }
    return out;
}

static json_t *side_json(const struct compare_side *side)
{
    json_t *runs = json_array(), *cases = json_array();

    for (size_t i = 0; i < side->n; i++) {
        const struct compare_choice *one = &side->cases[i];
        const json_t *doc = one->run->doc;
        bool is_new = true;

        for (size_t k = 0; k < i && is_new; k++)
            is_new = side->cases[k].run != one->run;
        if (is_new)
            json_array_append_new(runs, run_json(doc));
        json_array_append_new(
            cases, json_pack("{s:O?, s:i, s:O?, s:O}", "run", json_object_get(doc, "id"),
                             "case", one->case_no, "repeat",
                             json_object_get(one->doc, "repeat"), "env", one->env));
    }
    return json_pack("{s:o, s:o, s:I, s:I}", "runs", runs, "cases", cases, "unfinished",
                     (json_int_t)side->unfinished, "unpaired",
                     (json_int_t)side->unpaired);
}

/* ---- Warnings ---- */

static void warn(json_t *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(json_t *list, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    json_array_append_new(list, json_vsprintf(format, args));
    va_end(args);
}

static void warn_of_cases(json_t *list, const struct compare_side *side)
{
    if (side->unfinished > 0)
        warn(list, "%zu of %zu cases of %s did not complete and are ignored",
             side->unfinished, side->unfinished + side->unpaired + side->n, side->name);
    if (side->unpaired > 0)
        warn(list, "%zu cases of %s have no partner on the other side and are ignored",
             side->unpaired, side->name);
}

/* Return true if a side's cases differ in their variables, which increases the side's
 * scatter. */
static bool is_mixed(const struct compare_side *side)
{
    for (size_t i = 1; i < side->n; i++)
        if (!json_equal(side->cases[i].env, side->cases[0].env))
            return true;
    return false;
}

static bool has_sequence(const struct compare_side *side)
{
    return side->n > 0 &&
           strcmp(json_get_str(json_object_get(side->cases[0].run->doc, "spec"), "order",
                               ""),
                  "sequential") == 0;
}

static void warn_of_order(json_t *list, const struct compare_side *base,
                          const struct compare_side *head)
{
    if (base->n == 0 || head->n == 0)
        return;
    warn(list,
         "the cases did not alternate (%s), so a change over time counts as "
         "a difference",
         base->cases[0].run == head->cases[0].run && has_sequence(base)
             ? "the order is sequential"
             : "they were chosen separately");
}

static char *short_text(const json_t *value)
{
    const char *text = json_string_value(value);

    return text ? strdup(text) : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static void warn_of_unlike(json_t *list, const json_t *differences)
{
    json_t *one;
    size_t i;

    json_array_foreach (differences, i, one) {
        char *base, *head;

        if (json_get_bool(one, "alike", true))
            continue;
        base = short_text(json_object_get(one, "base"));
        head = short_text(json_object_get(one, "head"));
        warn(list, "base and head differ in %s: base %.80s, head %.80s",
             json_get_str(one, "what", "?"), base ? base : "?", head ? head : "?");
        free(base);
        free(head);
    }
}

static json_t *warnings_json(const struct compare *compare,
                             const struct compare_side *base,
                             const struct compare_side *head, const json_t *differences)
{
    json_t *list = json_array();

    warn_of_unlike(list, differences);
    if (!compare->is_paired && !compare->by_run)
        warn_of_order(list, base, head);
    if (!compare->is_paired && (is_mixed(base) || is_mixed(head)))
        warn(list, "base or head mixes cases with different settings: select one setting "
                   "for each side");
    warn_of_cases(list, base);
    warn_of_cases(list, head);
    if (compare->sizes_left_out > 0)
        warn(list, "%zu of %zu sizes were not measured in all cases and are ignored",
             compare->sizes_left_out, compare->sizes_left_out + compare->sizes_total);
    return list;
}

/* ---- The verdict ---- */

/* Return the facts in which the sides are not comparable. The sentence begins with these
 * facts, for readers who see nothing else. */
static json_t *unlike_json(const json_t *differences)
{
    json_t *out = json_array(), *one;
    size_t i;

    json_array_foreach (differences, i, one)
        if (!json_get_bool(one, "alike", true))
            json_array_append(out, json_object_get(one, "what"));
    return out;
}

/* Return the run's document if all cases of a side belong to one run, else NULL. */
static const json_t *only_run(const struct compare_side *side)
{
    for (size_t i = 1; i < side->n; i++)
        if (side->cases[i].run != side->cases[0].run)
            return NULL;
    return side->n > 0 ? side->cases[0].run->doc : NULL;
}

/* Write the name of head for the sentence: the name of head's run, or the run's id if
 * base has the same name. */
static void name_head(const struct compare_side *base, const struct compare_side *head,
                      char *out, size_t size)
{
    const json_t *left = only_run(base), *right = only_run(head);
    const char *name = json_get_str(right, "name", "");
    const char *id = json_get_str(right, "id", head->name);
    bool is_known = right && strcmp(id, json_get_str(left, "id", "")) != 0;

    if (strcmp(name, json_get_str(left, "name", "")) == 0)
        name = "";
    if (is_known && *name)
        snprintf(out, size, "'%.*s'", utf8_fit(name, HEAD_NAME_MAX), name);
    else
        snprintf(out, size, "%s", is_known ? id : head->name);
}

static json_t *verdict_of(const struct compare *compare,
                          const struct compare_names *names,
                          const struct compare_side *base,
                          const struct compare_side *head)
{
    static const enum message_id message_ids[VERDICT_ANSWERS] = {
        [VERDICT_BETTER] = MESSAGE_HEAD_BETTER,
        [VERDICT_WORSE] = MESSAGE_HEAD_WORSE,
        [VERDICT_SAME] = MESSAGE_SIDES_SAME,
        [VERDICT_MIXED] = MESSAGE_SIDES_MIXED,
        [VERDICT_NOT_ENOUGH_DATA] = MESSAGE_SIDES_OPEN,
    };
    json_t *differences = differences_json(base, head);
    struct finding finding = finding_begin();

    finding_put(
        &finding, "{s:b, s:s, s:f, s:{s:I, s:I}, s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o}",
        "paired", (int)compare->is_paired, "unit", compare->by_run ? "run" : "case",
        "margin", compare->margin, "cases", "base", (json_int_t)compare->n_base, "head",
        (json_int_t)compare->n_head, "runs", "base", (json_int_t)compare->base_runs,
        "head", (json_int_t)compare->head_runs, "history", (json_int_t)compare->history,
        "bands", bands_json(compare), "warnings",
        warnings_json(compare, base, head, differences), "differences", differences,
        "$unlike", unlike_json(differences));
    finding_set(&finding, "$sentence", compare_sentence(compare, names));
    return finding_end(&finding, message_ids[compare->answer], NULL);
}

/* ---- Comparing ---- */

static bool share_a_run(const struct compare_side *base, const struct compare_side *head)
{
    for (size_t i = 0; i < base->n; i++)
        for (size_t k = 0; k < head->n; k++)
            if (base->cases[i].run == head->cases[k].run)
                return true;
    return false;
}

static bool is_since(const struct compare_choice *one, const struct compare_side *base)
{
    return strcmp(json_get_str(one->run->doc, "created", ""),
                  json_get_str(base->cases[0].run->doc, "created", "")) > 0;
}

/* Append a side's cases to `lots`, grouped by run. If base is not NULL, include only runs
 * since base, or only runs before base. */
static size_t put_runs(const struct compare_side *side, const struct compare_side *base,
                       bool since, struct compare_lot *lots)
{
    size_t n = 0;

    for (size_t i = 0; i < side->n; i++) {
        const struct compare_run *run = side->cases[i].run;
        bool is_known = base && is_since(&side->cases[i], base) != since;

        for (size_t k = 0; k < i && !is_known; k++)
            is_known = side->cases[k].run == run;
        for (size_t k = i; k < side->n && !is_known; k++)
            if (side->cases[k].run == run)
                lots[n++] = (struct compare_lot){run->values, side->cases[k].case_no};
    }
    return n;
}

static struct compare *compare_runs(const struct compare_question *question,
                                    struct error *err)
{
    const struct compare_side *base = question->base, *head = question->head;
    const struct compare_side *history = base->n > 0 ? question->history : NULL;
    size_t n = base->n + head->n + (history ? history->n : 0);
    struct compare_lot *lots = memory_zeroed(n + 1, sizeof(*lots), "a comparison");
    struct compare_sides sides = {.base = lots,
                                  .head = lots + base->n,
                                  .n_base = base->n,
                                  .n_head = head->n,
                                  .by_run = true,
                                  .margin = question->margin,
                                  .history = lots + base->n + head->n};
    struct compare_lot *past = lots + base->n + head->n;
    struct compare *compare;

    put_runs(base, NULL, false, lots);
    put_runs(head, NULL, false, lots + base->n);
    if (history) {
        sides.n_before = put_runs(history, base, false, past);
        sides.n_history =
            sides.n_before + put_runs(history, base, true, past + sides.n_before);
    }
    compare = compare_create(&sides, err);
    free(lots);
    return compare;
}

static struct compare *compare_of(const struct compare_question *question,
                                  struct error *err)
{
    struct compare_side *base = question->base, *head = question->head;
    bool is_paired = compare_sides_pair(base, head);
    struct compare_lot *left, *right;
    struct compare *compare;

    if (!share_a_run(base, head))
        return compare_runs(question, err);
    left = compare_side_lots(base);
    right = compare_side_lots(head);
    compare = compare_create(&(struct compare_sides){.base = left,
                                                     .head = right,
                                                     .n_base = base->n,
                                                     .n_head = head->n,
                                                     .is_paired = is_paired,
                                                     .margin = question->margin},
                             err);
    free(left);
    free(right);
    return compare;
}

/* Describe the variables in which a side differs from the other, if each side's cases
 * agree: "Tree", or "NCCL_ALGO=Tree NCCL_PROTO=LL" for several variables. Write "" if
 * there are none. */
static void name_setting(const struct compare_side *side,
                         const struct compare_side *other, char *out, size_t size)
{
    const json_t *env = side->n > 0 ? side->cases[0].env : NULL;
    const json_t *beside = other->n > 0 ? other->cases[0].env : NULL;
    const char *name, *only = NULL;
    size_t n = 0, at = 0;
    json_t *value;

    *out = '\0';
    if (is_mixed(side) || is_mixed(other))
        return;
    json_object_foreach ((json_t *)(uintptr_t)env, name, value) {
        if (json_equal(value, json_object_get(beside, name)) || !json_is_string(value))
            continue;
        only = json_string_value(value);
        at += (size_t)snprintf(out + at, size - at, "%s%s=%s", n++ > 0 ? " " : "", name,
                               only);
        if (at >= size)
            break;
    }
    if (n == 1 && json_object_size(env) == json_object_size(beside))
        snprintf(out, size, "%s", only);
}

double compare_margin_of(const json_t *run)
{
    return json_get_num(json_object_get(run, "spec"), "margin_percent",
                        100 * COMPARE_SAME) /
           100;
}

/* ---- The response ---- */

json_t *compare_json(const struct compare_question *question, struct error *err)
{
    struct compare_side *base = question->base, *head = question->head;
    struct compare *compare = compare_of(question, err);
    char name[HEAD_NAME_MAX + 3], left[HEAD_NAME_MAX], right[HEAD_NAME_MAX];
    struct compare_names names = {name, "base", name};
    json_t *out;

    if (!compare)
        return NULL;
    name_head(base, head, name, sizeof(name));
    name_setting(base, head, left, sizeof(left));
    name_setting(head, base, right, sizeof(right));
    if (*left)
        names.setting_base = left;
    if (*right)
        names.setting_head = right;
    out = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "verdict",
                    verdict_of(compare, &names, base, head), "base", side_json(base),
                    "head", side_json(head), "sizes", sizes_json(compare), "sizes_total",
                    (json_int_t)compare->sizes_total, "sizes_left_out",
                    (json_int_t)compare->sizes_left_out);
    compare_destroy(compare);
    return out;
}
