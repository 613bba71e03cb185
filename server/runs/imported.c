/* SPDX-License-Identifier: Apache-2.0 */
/* imported.c - writes another benchmark's results as a run */
#include "server/runs/imported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/runs/run.h"
#include "server/store/store.h"

#define SERIES_MAX 4096

/* A series of the run. Series are numbered in the order of their appearance. This order
 * equals the order in common/spec/series.h, because other benchmarks iterate types,
 * reductions and roots in the same way. */
struct series {
    int dtype, redop, root;
    bool in_place;
};

struct writer {
    const struct imported *what;
    struct store_write *write;
    struct run *run;
    struct series series[SERIES_MAX];
    size_t n_series;
};

static int series_of(struct writer *writer, const struct import_row *row)
{
    struct series *series = writer->series;

    for (size_t i = 0; i < writer->n_series; i++)
        if (series[i].dtype == row->dtype && series[i].redop == row->redop &&
            series[i].root == row->root && series[i].in_place == row->in_place)
            return (int)i;
    if (writer->n_series == SERIES_MAX)
        return -1;
    series[writer->n_series] =
        (struct series){row->dtype, row->redop, row->root, row->in_place};
    return (int)writer->n_series++;
}

/* ---- The run's spec ---- */

/* Append a value (stolen) unless the array already contains it. */
static void add_once(json_t *array, json_t *value)
{
    const json_t *item;
    size_t i;

    json_array_foreach (array, i, item) {
        if (json_equal(item, value)) {
            json_decref(value);
            return;
        }
    }
    json_array_append_new(array, value);
}

static void add_lists(json_t *spec, const struct import_row *row)
{
    add_once(json_object_get(spec, "dtypes"),
             json_string(dtype_name((enum dtype)row->dtype)));
    if (row->redop >= 0)
        add_once(json_object_get(spec, "redops"),
                 json_string(redop_name((enum redop)row->redop)));
}

/* Add the sizes of the first series' first sweep. */
static void add_sizes(json_t *spec, const struct import_table *table)
{
    json_t *sizes = json_array();

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct import_row *row = &table->rows[i], *first = &table->rows[0];

        if (row->size > 0 && row->cycle == 0 && row->dtype == first->dtype &&
            row->redop == first->redop && row->root == first->root &&
            row->in_place == first->in_place &&
            json_array_size(sizes) < RUN_SPEC_SIZES_MAX)
            json_array_append_new(sizes, json_integer((json_int_t)row->size));
    }
    if (json_array_size(sizes) > 0)
        json_object_set(spec, "sizes", sizes);
    json_decref(sizes);
}

static void add_placement(json_t *spec, const struct import_table *table)
{
    bool is_in = false, is_out = false;

    for (size_t i = 0; i < table->n_rows; i++) {
        is_in |= table->rows[i].in_place;
        is_out |= !table->rows[i].in_place;
    }
    if (is_in != is_out)
        json_object_set_new(spec, "in_place", json_boolean(is_in));
}

static void add_settings(json_t *spec, const struct import_table *table)
{
    for (size_t i = 0; i < IMPORT_SETTINGS; i++) {
        const struct import_setting *setting = &import_settings[i];
        json_t *into = spec;

        if (table->settings[i] < setting->least)
            continue;
        if (setting->parent) {
            into = json_object();
            json_object_set_new(spec, setting->parent, into);
        }
        json_object_set_new(into, setting->field, json_integer(table->settings[i]));
    }
}

/* Set the root of a rooted collective; -1 if the roots of the series differ. */
static void add_root(json_t *spec, const struct writer *writer)
{
    int root = writer->series[0].root;

    for (size_t i = 1; i < writer->n_series; i++)
        if (writer->series[i].root != root)
            root = -1;
    if (collective_facts((enum collective_kind)writer->what->tables[0]->collective)
            ->is_rooted)
        json_object_set_new(spec, "root", json_integer(root));
}

static json_t *spec_json(struct writer *writer)
{
    const struct imported *what = writer->what;
    const struct import_table *first = what->tables[0];
    json_t *spec = json_pack(
        "{s:o?, s:o, s:[s], s:[], s:[], s:i}", "name", json_clean_string(what->name),
        "labels", what->labels ? json_deep_copy(what->labels) : json_object(),
        "collectives", collective_name((enum collective_kind)first->collective), "dtypes",
        "redops", "repeats", (int)what->n_tables);
    json_t *labels = json_object_get(spec, "labels");

    if (!spec)
        return NULL;
    if (*first->heading && !json_object_get(labels, "heading"))
        json_object_set_new(labels, "heading", json_clean_string(first->heading));
    for (size_t i = 0; i < what->n_tables; i++) {
        for (size_t k = 0; k < what->tables[i]->n_rows; k++) {
            add_lists(spec, &what->tables[i]->rows[k]);
            if (series_of(writer, &what->tables[i]->rows[k]) < 0) {
                json_decref(spec);
                return NULL;
            }
        }
    }
    if (json_array_size(json_object_get(spec, "redops")) == 0)
        json_object_del(spec, "redops");
    add_sizes(spec, first);
    add_placement(spec, first);
    add_settings(spec, first);
    add_root(spec, writer);
    return spec;
}

static struct run_spec *make_spec(struct writer *writer, struct error *err)
{
    json_t *json = spec_json(writer);
    struct run_spec *spec = NULL;
    struct problems problems;

    problems_init(&problems);
    if (json)
        spec = run_spec_parse(json, &problems);
    if (!json)
        error_set(err, ERROR_LIMIT, "the file contains more than %d series", SERIES_MAX);
    else if (!spec) {
        const json_t *first = json_array_get(problems.errors, 0);

        error_set(err, ERROR_INVALID,
                  "the file's results cannot be stored as a run: %s %s",
                  json_get_str(first, "pointer", ""), json_get_str(first, "detail", ""));
    }
    problems_release(&problems);
    json_decref(json);
    return spec;
}

/* ---- The run's events ---- */

/* Apply an event to the run and write it. Takes ownership of `body`. */
static void put(struct writer *writer, const char *type, json_t *body)
{
    run_fold(writer->run, writer->what->time_ms, type, body);
    store_write_event(writer->write, writer->run->id, writer->what->time_ms, type, body);
    json_decref(body);
}

static void put_state(struct writer *writer, enum run_state state, const char *reason)
{
    put(writer, "state",
        json_pack("{s:s, s:o?}", "state", run_state_name(state), "reason",
                  json_clean_string(reason)));
}

static json_t *nodes_json(const struct import_table *table)
{
    json_t *nodes = json_array();
    int unknown = table->ranks;

    for (size_t i = 0; i < table->n_nodes; i++)
        unknown -= table->nodes[i].ranks;
    for (size_t i = 0; i < table->n_nodes; i++)
        json_array_append_new(nodes, json_pack("{s:o, s:i}", "name",
                                               json_clean_string(table->nodes[i].name),
                                               "ranks", table->nodes[i].ranks));
    /* If the nodes are unknown, all ranks are placed on one node. */
    if (table->n_nodes == 0)
        json_array_append_new(
            nodes, json_pack("{s:s, s:i}", "name", "imported", "ranks", table->ranks));
    else if (unknown > 0)
        json_array_append_new(
            nodes, json_pack("{s:s, s:i}", "name", "unknown", "ranks", unknown));
    return nodes;
}

/* Return the machines in the format of machine.h. */
static json_t *machines_json(const struct import_table *table, const json_t *nodes)
{
    int per_node = table->ranks / (int)json_array_size(nodes);
    json_t *names = json_array(), *versions = json_object();
    char hardware[IMPORT_NAME_SIZE + 32] = "unknown";
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node)
        json_array_append(names, json_object_get(node, "name"));
    if (*table->version)
        json_object_set_new(versions, import_source(table),
                            json_clean_string(table->version));
    if (*table->library)
        json_object_set_new(versions, "nccl", json_string(table->library));
    if (*table->device)
        snprintf(hardware, sizeof(hardware), "%d x %s", per_node, table->device);
    return json_pack("[{s:o, s:o, s:o}]", "hardware", json_clean_string(hardware),
                     "versions", versions, "nodes", names);
}

static void put_placed(struct writer *writer)
{
    const struct import_table *first = writer->what->tables[0];
    json_t *nodes = nodes_json(first);
    size_t rows = 0;

    for (size_t i = 0; i < writer->what->n_tables; i++)
        rows += writer->what->tables[i]->n_rows + writer->what->tables[i]->n_unread;
    put(writer, "placed",
        json_pack("{s:s, s:i, s:O, s:I, s:o}", "backend",
                  first->format == IMPORT_OSU ? "mpi" : "nccl", "world_size",
                  first->ranks, "nodes", nodes, "rows_total", (json_int_t)rows,
                  "machines", machines_json(first, nodes)));
    json_decref(nodes);
    writer->run->rows_total = rows;
}

static void put_case(struct writer *writer, size_t index, enum case_state state,
                     const char *reason, json_t *transports)
{
    json_t *body =
        json_pack("{s:i, s:i, s:i, s:s, s:o?}", "case", (int)index, "repeat",
                  run_matrix_repeat(writer->run->spec, index), "attempt", 1, "state",
                  case_state_name(state), "reason", json_clean_string(reason));

    if (transports)
        json_object_set(body, "transports", transports);
    put(writer, "case", body);
}

static void add_figures(json_t *body, const struct import_table *table,
                        const struct import_row *row)
{
    long iters = row->iters > 0 ? row->iters : table->settings[IMPORT_ITERS];

    if (iters > 0)
        json_object_set_new(body, "iters", json_integer(iters));
    json_object_set_new(body, "time_us", json_real(row->time_us));
    if (row->time_max_us > 0.0) {
        json_object_set_new(body, "time_min_us", json_real(row->time_min_us));
        json_object_set_new(body, "time_max_us", json_real(row->time_max_us));
    }
    json_object_set_new(body, "algbw_gbs", json_real(row->algbw_gbs));
    json_object_set_new(body, "busbw_gbs", json_real(row->busbw_gbs));
    json_object_set_new(body, "wrong",
                        row->wrong < 0 ? json_null()
                                       : json_integer((json_int_t)row->wrong));
}

static void put_row(struct writer *writer, size_t index, size_t number)
{
    const struct import_table *table = writer->what->tables[index];
    const struct import_row *row = &table->rows[number];
    json_t *body =
        json_pack("{s:i, s:i, s:I, s:i, s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:b}", "case",
                  (int)index, "attempt", 1, "row", (json_int_t)number, "series",
                  series_of(writer, row), "collective",
                  collective_name((enum collective_kind)table->collective), "dtype",
                  dtype_name((enum dtype)row->dtype), "redop",
                  row->redop < 0 ? "none" : redop_name((enum redop)row->redop), "root",
                  row->root, "in_place", (int)row->in_place, "size",
                  (json_int_t)row->size, "count", (json_int_t)row->count, "imported", 1);

    if (row->cycle > 0)
        json_object_set_new(body, "cycle", json_integer(row->cycle));
    if (row->size == 0 || row->time_us <= 0.0)
        json_object_set_new(body, "skipped",
                            json_string(row->size == 0
                                            ? "0 bytes: nothing moved"
                                            : "the file reports a time of 0 us"));
    else
        add_figures(body, table, row);
    put(writer, "result", body);
}

/* Write the reason why a table is not a complete measurement, or "" if it is complete. */
static void fault_of(const struct import_table *table, char *out, size_t size)
{
    out[0] = '\0';
    if (table->failure[0])
        snprintf(out, size, "%s", table->failure);
    else if (table->out_of_bounds > 0)
        snprintf(out, size, "the file reports %ld wrong elements", table->out_of_bounds);
    else if (table->wrong_at > 0)
        snprintf(out, size, "the file reports wrong elements at %llu B",
                 (unsigned long long)table->wrong_at);
    else if (table->has_begun && !table->has_ended)
        snprintf(out, size, "the file ends early, after %zu rows", table->n_rows);
    else if (table->is_below)
        snprintf(out, size, "the file reports a bus bandwidth below NCCL_TESTS_MIN_BW");
}

/* Report lines that could not be read. Unread lines do not make the measurement a
 * failure, but rows_total counts them. */
static void put_unread(struct writer *writer, size_t index, size_t n)
{
    char text[80];

    snprintf(text, sizeof(text), "%zu line%s of the file could not be read", n,
             n == 1 ? "" : "s");
    put(writer, "message",
        json_pack("{s:s, s:s, s:i}", "level", "warn", "text", text, "case", (int)index));
}

static void put_table(struct writer *writer, size_t index, size_t *n_failed)
{
    const struct import_table *table = writer->what->tables[index];
    char fault[160];

    fault_of(table, fault, sizeof(fault));
    *n_failed += *fault != '\0';
    put_case(writer, index, CASE_RUNNING, NULL, NULL);
    for (size_t i = 0; i < table->n_rows; i++)
        put_row(writer, index, i);
    if (table->n_unread > 0)
        put_unread(writer, index, table->n_unread);
    /* The transports come from a log of the whole file, so add them to one case only. */
    put_case(writer, index, *fault ? CASE_FAILED : CASE_COMPLETED, *fault ? fault : NULL,
             index == 0 ? writer->what->transports : NULL);
}

static void put_end(struct writer *writer, size_t n_failed)
{
    const struct import_table *first = writer->what->tables[0];
    char reason[320], fault[160] = "";

    for (size_t i = 0; i < writer->what->n_tables && !*fault; i++)
        fault_of(writer->what->tables[i], fault, sizeof(fault));
    snprintf(reason, sizeof(reason), "imported from %s%s%s%s%s", import_source(first),
             *first->version ? " " : "", first->version, *fault ? ": " : "", fault);
    put_state(writer, n_failed ? RUN_FAILED : RUN_COMPLETED, reason);
}

static void put_events(struct writer *writer)
{
    char from[256];
    size_t n_failed = 0;

    put_state(writer, RUN_QUEUED, NULL);
    put_placed(writer);
    snprintf(from, sizeof(from), "from the file %.200s", writer->what->file);
    if (*writer->what->file)
        put(writer, "message",
            json_pack("{s:s, s:o?}", "level", "info", "text", json_clean_string(from)));
    if (writer->what->tables[0]->groups > 1)
        put(writer, "message",
            json_pack("{s:s, s:s}", "level", "info", "text",
                      "several communicators were measured at the same time; each row is "
                      "the mean over all of them"));
    for (size_t i = 0; i < writer->what->n_tables; i++)
        put_table(writer, i, &n_failed);
    put_end(writer, n_failed);
}

/* ---- The whole run ---- */

static json_t *about(const struct imported *what)
{
    const struct import_table *first = what->tables[0];
    json_t *json = json_pack("{s:s, s:s?, s:s?}", "from", import_source(first), "version",
                             *first->version ? first->version : NULL, "nccl",
                             *first->library ? first->library : NULL);

    return json;
}

static void write_row(struct store_write *write, const struct run *run, const json_t *doc)
{
    store_write_run(write, run->id, run_state_name(run->state), run->spec->name,
                    run->created_ms, run->spec->labels, doc);
}

json_t *imported_write(struct store_write *write, const struct imported *what,
                       struct error *err)
{
    struct writer *writer = memory_zeroed(1, sizeof(*writer), "an imported run");
    char id[ID_RUN_LENGTH + 1];
    struct run_spec *spec;
    json_t *doc = NULL;

    writer->what = what;
    writer->write = write;
    spec = make_spec(writer, err);
    if (spec) {
        id_run(id);
        writer->run = run_create(id, spec, what->time_ms);
        /* An event can only be stored if its run has a row. Therefore write the run first
         * in its initial form, and at the end in its final form. */
        doc = run_to_json(writer->run, RUN_STORED);
        write_row(write, writer->run, doc);
        json_decref(doc);
        put_events(writer);
        doc = run_to_json(writer->run, RUN_WHOLE);
        json_object_set_new(doc, "imported", about(what));
        write_row(write, writer->run, doc);
        run_destroy(writer->run);
    }
    free(writer);
    return doc;
}
