/* SPDX-License-Identifier: Apache-2.0 */
/* likeness.c - decides if the figures of two runs are comparable */
#include "server/analysis/likeness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/spec_field.h"

void likeness_figure(const char *collective, const char *dtype, bool in_place,
                     enum band band, char text[LIKENESS_FIGURE_SIZE])
{
    snprintf(text, LIKENESS_FIGURE_SIZE, "%s %s %s%s", collective, dtype,
             band_names[band], in_place ? " in place" : "");
}

/* Return the settings that affect figures. An absent field stays absent, because an older
 * server without the field measured in a different way. */
static json_t *settings_json(const json_t *spec)
{
    const struct spec_fields *fields = run_spec_fields();
    json_t *settings = json_object();

    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        json_t *value = json_object_get(spec, field->name);

        if (value && field->uses & SPEC_SHAPES)
            json_object_set(settings, field->name, value);
    }
    return settings;
}

/* Return the spec's variables and files, including variables of the compared cases. */
static json_t *env_json(const json_t *spec, const json_t *env)
{
    json_t *all = json_object();

    json_object_update(all, json_object_get(spec, "env"));
    json_object_update(all, json_object_get(spec, "files"));
    json_object_update(all, (json_t *)(uintptr_t)env);
    json_object_del(all, LIKENESS_NIGHT);
    return all;
}

/* Describe the sizes by number, minimum, maximum and sum. Different sizes hardly ever
 * agree in all of these. */
static json_t *sizes_json(const struct likeness *of)
{
    int64_t sum = 0;

    for (size_t i = 0; i < of->n_sizes; i++)
        sum += of->sizes[i];
    return json_pack("{s:I, s:I, s:I, s:I}", "count", (json_int_t)of->n_sizes, "min",
                     (json_int_t)(of->n_sizes ? of->sizes[0] : 0), "max",
                     (json_int_t)(of->n_sizes ? of->sizes[of->n_sizes - 1] : 0), "sum",
                     (json_int_t)sum);
}

/* Return the node's hardware at the time when the run was placed. If the hardware is
 * unknown, return the node's name, so that the node is comparable only with itself. */
static const char *hardware_of(const json_t *run, const char *node)
{
    const json_t *machines = json_object_get(run, "machines");

    for (size_t i = 0; i < json_array_size(machines); i++) {
        const json_t *machine = json_array_get(machines, i);
        const json_t *names = json_object_get(machine, "nodes");

        for (size_t k = 0; k < json_array_size(names); k++) {
            const char *name = json_string_value(json_array_get(names, k));

            if (name && strcmp(name, node) == 0)
                return json_get_str(machine, "hardware", node);
        }
    }
    return node;
}

/* Return {name: ranks}, or {hardware: {ranks: number of nodes}}. The caller writes the
 * keys in sorted order. */
static json_t *nodes_json(const json_t *run, enum run_likeness by)
{
    const json_t *nodes = json_object_get(run, "nodes");
    json_t *all = json_object();

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const char *name = json_get_str(node, "name", "?");
        int64_t ranks = json_get_int(node, "ranks", 0);
        const char *hardware;
        char text[24];

        if (by == LIKE_NODES) {
            json_object_set_new(all, name, json_integer(ranks));
            continue;
        }
        hardware = hardware_of(run, name);
        snprintf(text, sizeof(text), "%lld", (long long)ranks);
        if (!json_object_get(all, hardware))
            json_object_set_new(all, hardware, json_object());
        json_object_set_new(
            json_object_get(all, hardware), text,
            json_integer(json_get_int(json_object_get(all, hardware), text, 0) + 1));
    }
    return all;
}

/* Return the key without the series number, which is valid within one run only. */
static json_t *series_json(const json_t *key)
{
    json_t *series = json_copy((json_t *)(uintptr_t)key);

    json_object_del(series, "series");
    return series;
}

char *likeness_text(const struct likeness *of, enum run_likeness by)
{
    const json_t *spec = json_object_get(of->run, "spec");
    json_t *all = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:o}", "backend",
                            json_get_str(of->run, "backend", ""), "world_size",
                            (json_int_t)json_get_int(of->run, "world_size", 0),
                            run_likeness_names[by], nodes_json(of->run, by), "settings",
                            settings_json(spec), "env", env_json(spec, of->env), "series",
                            series_json(of->key), "band", band_names[of->band], "sizes",
                            sizes_json(of));
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);

    if (!text)
        memory_out("a run's likeness");
    json_decref(all);
    return text;
}
