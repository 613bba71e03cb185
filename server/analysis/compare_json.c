/* compare_json.c - a comparison as the API answers it */
#include "server/analysis/compare_json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/utf8.h"
#include "server/analysis/compare_sentence.h"
#include "server/analysis/differences.h"

#define SENTENCE_MAX 8192
#define HEAD_NAME_MAX 80
#define UNLIKE_MAX 3 /* told in front of the sentence */

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

/* What a part of a sentence says, as a string. */
typedef int put_words(const struct compare *compare, const struct compare_band *band,
                      struct buf *out);

static json_t *words(put_words *put, const struct compare *compare,
                     const struct compare_band *band)
{
    json_t *text = NULL;
    struct buf out;

    buf_init(&out, SENTENCE_MAX);
    if (put(compare, band, &out) == 0)
        text = json_stringn(out.len ? out.data : "", out.len);
    buf_release(&out);
    return text ? text : json_string("");
}

static int put_series(const struct compare *compare, const struct compare_band *band,
                      struct buf *out)
{
    (void)compare;
    return compare_series_name(band, out);
}

static json_t *states_json(const struct compare_band *band)
{
    if (!band->states.found || (!band->base_varies && !band->head_varies))
        return json_null();
    return json_pack("{s:f, s:b, s:b}", "apart", exp(band->states.apart), "in_base",
                     band->base_varies, "in_head", band->head_varies);
}

static json_t *band_json(const struct compare *compare, const struct compare_band *band)
{
    json_t *out = json_pack("{s:o, s:O, s:s?, s:s, s:b, s:I}", "series",
                            words(put_series, compare, band), "about", band->about,
                            "band", band->band == BANDS ? NULL : band_names[band->band],
                            "figure", band->figure, "higher_is_better",
                            band->higher_is_better, "sizes", (json_int_t)band->sizes);

    if (!out)
        return NULL;
    put_change(out, &band->change);
    json_object_set_new(out, "p_holm", number(band->p_holm));
    json_object_set_new(out, "answer", json_string(verdict_answer_name(band->answer)));
    json_object_set_new(out, "reason", json_string(compare_reason_name(band->reason)));
    json_object_set_new(out, "why", words(compare_why, compare, band));
    json_object_set_new(out, "states", states_json(band));
    json_object_set_new(out, "repeats_needed",
                        band->repeats_needed
                            ? json_integer((json_int_t)band->repeats_needed)
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

/* A size's series stands in it by its own members. */
static json_t *size_json(const struct compare *compare, const struct compare_size *size)
{
    const struct compare_band *band = &compare->bands[size->band];
    json_t *out = json_copy(size->series->key);

    if (!out)
        return NULL;
    json_object_set_new(out, "series", words(put_series, compare, band));
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

/* What a run is, as its own document has it; marks only of what was not measured here. */
static json_t *run_json(const json_t *doc)
{
    static const char *const told[] = {"id",         "name",     "created", "backend",
                                       "world_size", "emulated", "imported"};
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        json_t *value = json_object_get(doc, told[i]);

        if (value)
            json_object_set(out, told[i], value);
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
        warn(list, "%zu of %zu cases of %s did not complete and are left out",
             side->unfinished, side->unfinished + side->unpaired + side->n, side->name);
    if (side->unpaired > 0)
        warn(list, "%zu cases of %s have no partner and are left out", side->unpaired,
             side->name);
}

/* Whether a side's cases differ in their variables, which then widen its scatter. */
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
    if (base->cases[0].run == head->cases[0].run && has_sequence(base))
        warn(list, "the cases did not take turns (order sequential): what changed "
                   "meanwhile counts as a difference");
    else
        warn(list, "the cases did not take turns, being of different runs or chosen "
                   "one by one: what changed meanwhile counts as a difference");
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
        warn(list, "not alike in %s: base %.80s, head %.80s",
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
    if (!compare->is_paired)
        warn_of_order(list, base, head);
    if (!compare->is_paired && (is_mixed(base) || is_mixed(head)))
        warn(list, "cases with different variables are one lot: choose among them with "
                   "base_env and head_env");
    warn_of_cases(list, base);
    warn_of_cases(list, head);
    if (compare->sizes_left_out > 0)
        warn(list, "%zu of %zu sizes are not in all cases and are left out",
             compare->sizes_left_out, compare->sizes_left_out + compare->sizes_total);
    return list;
}

/* ---- The whole ---- */

/* In what the sides are not alike stands in front, since who reads nothing else should
 * know it. */
static int put_unlike(const json_t *differences, struct buf *out)
{
    size_t n = 0, i;
    json_t *one;

    json_array_foreach (differences, i, one) {
        if (json_get_bool(one, "alike", true))
            continue;
        if (n++ >= UNLIKE_MAX)
            continue;
        if (buf_printf(out, "%s%s", n == 1 ? "not alike in " : ", ",
                       json_get_str(one, "what", "?")))
            return -1;
    }
    if (n > UNLIKE_MAX && buf_printf(out, " and %zu more", n - UNLIKE_MAX))
        return -1;
    return n > 0 ? buf_append_str(out, ": ") : 0;
}

/* The run of all cases of a side, or NULL. */
static const json_t *only_run(const struct compare_side *side)
{
    for (size_t i = 1; i < side->n; i++)
        if (side->cases[i].run != side->cases[0].run)
            return NULL;
    return side->n > 0 ? side->cases[0].run->doc : NULL;
}

/* What the sentence calls head: its run by name, or by id where base has that name too.
 */
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

static json_t *verdict_of(const struct compare *compare, const char *head,
                          json_t *evidence)
{
    json_t *verdict = NULL;
    struct buf out;

    buf_init(&out, SENTENCE_MAX);
    if (put_unlike(json_object_get(evidence, "differences"), &out) == 0 &&
        compare_sentence(compare, head, &out) == 0 && buf_append(&out, "", 1) == 0)
        verdict = verdict_json(VERDICT_COMPARE, compare->answer, out.data, NULL,
                               json_incref(evidence));
    buf_release(&out);
    json_decref(evidence);
    return verdict;
}

static json_t *evidence_of(const struct compare *compare, const struct compare_side *base,
                           const struct compare_side *head)
{
    json_t *differences = differences_json(base, head);
    json_t *warnings = warnings_json(compare, base, head, differences);

    return json_pack("{s:b, s:{s:I, s:I}, s:o, s:o, s:o}", "paired", compare->is_paired,
                     "cases", "base", (json_int_t)compare->n_base, "head",
                     (json_int_t)compare->n_head, "bands", bands_json(compare),
                     "warnings", warnings, "differences", differences);
}

static struct compare *compare_of(const struct compare_side *base,
                                  const struct compare_side *head, bool is_paired,
                                  struct error *err)
{
    struct compare_lot *left = compare_side_lots(base), *right = compare_side_lots(head);
    struct compare_sides sides = {left, right, base->n, head->n, is_paired};
    struct compare *compare = NULL;

    if (left && right)
        compare = compare_create(&sides, err);
    else
        error_set(err, ERROR_MEMORY, "out of memory");
    free(left);
    free(right);
    return compare;
}

json_t *compare_json(struct compare_side *base, struct compare_side *head,
                     struct error *err)
{
    bool is_paired = compare_sides_pair(base, head);
    struct compare *compare = compare_of(base, head, is_paired, err);
    char name[HEAD_NAME_MAX + 3];
    json_t *out;

    if (!compare)
        return NULL;
    name_head(base, head, name, sizeof(name));
    out = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "verdict",
                    verdict_of(compare, name, evidence_of(compare, base, head)), "base",
                    side_json(base), "head", side_json(head), "sizes",
                    sizes_json(compare), "sizes_total", (json_int_t)compare->sizes_total,
                    "sizes_left_out", (json_int_t)compare->sizes_left_out);
    compare_destroy(compare);
    if (!out)
        error_set(err, ERROR_MEMORY, "out of memory");
    return out;
}
