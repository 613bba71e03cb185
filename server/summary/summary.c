/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - computes the parts of a run's summary that need neither results nor the
 * database */
#include "server/summary/summary.h"

#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

static void release_point(struct summary_point *point)
{
    for (uint32_t i = 0; i < point->n_choices; i++)
        json_decref(point->choices[i].how);
    free(point->reason);
}

void summary_destroy(struct summary *summary)
{
    if (!summary)
        return;
    for (size_t i = 0; summary->series && i < summary->n_series; i++) {
        struct summary_series *series = &summary->series[i];

        for (size_t k = 0; series->points && k < series->n_points; k++)
            release_point(&series->points[k]);
        free(series->points);
        json_decref(series->key);
    }
    for (size_t i = 0; summary->figures && i < summary->n_figures; i++) {
        free(summary->figures[i].values);
        json_decref(summary->figures[i].key);
    }
    free(summary->series);
    free(summary->figures);
    json_decref(summary->no_numbers);
    free(summary->messages);
    free(summary->recent);
    free(summary->json);
    free(summary);
}

/* Return the number of the combination of a case's variables and nodes. A new combination
 * gets the next number. */
static int combination_of(json_t *known, const json_t *c)
{
    json_t *key =
        json_pack("[O?, O?]", json_object_get(c, "env"), json_object_get(c, "nodes"));
    char *text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *number = text ? json_object_get(known, text) : NULL;
    int result = (int)json_object_size(known);

    if (number)
        result = (int)json_integer_value(number);
    else if (!text || json_object_set_new_nocheck(known, text, json_integer(result)))
        memory_out("a summary");
    free(text);
    json_decref(key);
    return result;
}

struct summary_case *summary_cases(const json_t *run, size_t *n)
{
    const json_t *list = json_object_get(run, "cases");
    size_t count = json_array_size(list);
    struct summary_case *cases = memory_zeroed(count + 1, sizeof(*cases), "a summary");
    json_t *known = json_object();

    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);

        cases[i].combination = combination_of(known, item);
        cases[i].attempt = (int)json_get_int(item, "attempt", 0);
    }
    json_decref(known);
    *n = count;
    return cases;
}
