/* SPDX-License-Identifier: Apache-2.0 */
/* last_figures.c - keeps the latest value of each figure */
#include "server/runs/last_figures.h"

#include <string.h>

#include "common/base/json_util.h"

static void note(json_t *figures, const json_t *values, const json_t *value)
{
    const char *figure = json_get_str(value, "figure", "");
    const char *name = json_get_str(values, "name", "");
    const char *backend = json_get_str(values, "backend", "");
    int64_t created_ms = json_get_int(values, "created_ms", 0);
    json_t *item;
    size_t i, place = 0;

    json_array_foreach (figures, i, item) {
        int64_t its_ms = json_get_int(item, "created_ms", 0);

        place += its_ms > created_ms;
        if (strcmp(json_get_str(item, "figure", ""), figure) == 0 &&
            strcmp(json_get_str(item, "run_name", ""), name) == 0 &&
            strcmp(json_get_str(item, "backend", ""), backend) == 0) {
            if (its_ms >= created_ms)
                return;
            json_array_remove(figures, i);
            break;
        }
    }
    json_array_insert_new(figures, place,
                          json_pack("{s:s, s:s, s:s, s:f, s:I}", "run_name", name,
                                    "backend", backend, "figure", figure, "value",
                                    json_get_num(value, "value", 0.0), "created_ms",
                                    (json_int_t)created_ms));
    json_array_remove(figures, LAST_FIGURES_MAX);
}

void last_figures_note(json_t *figures, const json_t *values)
{
    const json_t *list = json_object_get(values, "values");

    for (size_t i = 0; i < json_array_size(list); i++)
        note(figures, values, json_array_get(list, i));
}
