/* SPDX-License-Identifier: Apache-2.0 */
/* lasting_changes.c - finds the figures of a gated run that changed permanently */
#include "server/analysis/lasting_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/bands.h"
#include "server/analysis/lasting.h"
#include "server/finding/template.h"

/* Return the id of run i of a series; each run is [id, value]. */
static const char *run_at(const json_t *runs, size_t i)
{
    return json_string_value(json_array_get(json_array_get(runs, i), 0));
}

static double value_at(const json_t *runs, size_t i)
{
    return json_number_value(json_array_get(json_array_get(runs, i), 1));
}

static size_t place_of(const json_t *runs, const char *run)
{
    for (size_t i = 0; run && i < json_array_size(runs); i++)
        if (strcmp(run_at(runs, i), run) == 0)
            return i;
    return 0;
}

/* Return true if the change makes the figure slower. The figure is a text such as
 * "all_reduce float32 bandwidth in place", whose third word is the band. */
static bool is_slower(const char *figure, double change)
{
    const char *band = strchr(figure, ' ');

    band = band ? strchr(band + 1, ' ') : NULL;
    return (change < 0) == (band && strncmp(band + 1, band_names[BAND_BANDWIDTH],
                                            strlen(band_names[BAND_BANDWIDTH])) == 0);
}

/* first: index of the reference's first run. */
static json_t *change_json(const char *figure, const json_t *runs, size_t first,
                           const struct level_split *split)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:b, s:s, s:s, s:[s, s], s:I}",
                     "figure", figure, "run", run_at(runs, first + split->at), "change",
                     expm1(split->change), "low", expm1(split->low), "high",
                     expm1(split->high), "p", split->p, "slower",
                     (int)is_slower(figure, split->change), "earliest",
                     run_at(runs, first + split->earliest), "latest",
                     run_at(runs, first + split->latest), "reference",
                     run_at(runs, first), run_at(runs, first + LEVEL_RUNS_MIN - 1),
                     "runs", (json_int_t)json_array_size(runs));
}

static void insert_by_size(json_t *changes, json_t *change)
{
    double size = fabs(log1p(json_get_num(change, "change", 0.0)));
    size_t i = 0;

    while (i < json_array_size(changes) &&
           fabs(log1p(json_get_num(json_array_get(changes, i), "change", 0.0))) >= size)
        i++;
    json_array_insert_new(changes, i, change);
}

/* Add the lasting change of a series, if there is one. level: error level for this
 * series. */
static void look_at(const json_t *one, const char *reference, double margin, double level,
                    json_t *changes)
{
    const json_t *runs = json_object_get(one, "runs");
    size_t first = place_of(runs, reference), n = json_array_size(runs) - first;
    double *levels = memory_zeroed(n + 1, sizeof(*levels), "levels");
    struct level_split split;
    bool has_left;

    for (size_t i = 0; i < n; i++)
        levels[i] = log(value_at(runs, first + i));
    has_left = lasting_find(levels, n, LEVEL_RUNS_MIN, log1p(margin), &split);
    free(levels);
    if (has_left && split.p <= level)
        insert_by_size(changes,
                       change_json(json_get_str(one, "figure", ""), runs, first, &split));
}

json_t *lasting_changes(const json_t *series, const char *reference, double margin)
{
    size_t n = json_array_size(series);
    json_t *changes = json_array();

    for (size_t i = 0; i < n; i++)
        look_at(json_array_get(series, i), reference, margin, LASTING_LEVEL / (double)n,
                changes);
    return changes;
}

bool lasting_changes_have_slower(const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++)
        if (json_get_bool(json_array_get(changes, i), "slower", false))
            return true;
    return false;
}

json_t *lasting_changes_text(const json_t *changes)
{
    const json_t *first = json_array_get(changes, 0);
    size_t n = json_array_size(changes);
    json_t *words = json_pack("{s:f, s:I}", "by", fabs(json_get_num(first, "change", 0)),
                              "others", (json_int_t)(n > 0 ? n - 1 : 0));
    json_t *text = template_text(
        "[lasting: {figure} {by:.1%} [{slower?}slower|faster] since run {run} ({low:.1%} "
        "to {high:.1%})[{others?}, and {others} more]]",
        first, words);

    json_decref(words);
    return text;
}
