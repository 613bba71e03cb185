/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_json.c - reads nccl-tests' JSON (-J) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/collective.h"
#include "server/import/import_build.h"

#define DEPTH_MAX 64

/* Return the offset of the end of the last complete element of "results" in a truncated
 * text, or 0 if there is none. Elements are objects in an array in the outermost object.
 */
static size_t last_element(const char *text, size_t len)
{
    char open[DEPTH_MAX];
    size_t depth = 0, end = 0;
    bool is_text = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (is_text && c == '\\')
            i++;
        else if (c == '"')
            is_text = !is_text;
        else if (!is_text && (c == '{' || c == '[') && depth < DEPTH_MAX)
            open[depth++] = c;
        else if (!is_text && (c == '}' || c == ']') && depth > 0)
            depth--;
        if (!is_text && c == '}' && depth == 2 && open[0] == '{' && open[1] == '[')
            end = i + 1;
    }
    return end;
}

/* Parse the file, or the readable part of a truncated file. */
static json_t *parse(const char *text, size_t len, bool *is_whole, struct error *err)
{
    json_t *file = json_parse(text, len, err);
    size_t end = file ? 0 : last_element(text, len);
    char *repaired;

    *is_whole = file != NULL;
    if (!end)
        return file;
    repaired = memory_zeroed(1, end + 3, "an imported file");
    memcpy(repaired, text, end);
    memcpy(repaired + end, "]}", 3);
    file = json_parse(repaired, end + 2, err);
    free(repaired);
    return file;
}

/* Read a number from a row. nccl-tests writes NaN as a string, which is rejected. */
static bool figure(const json_t *half, const char *name, double *value)
{
    *value = json_get_num(half, name, -1.0);
    return *value >= 0.0;
}

static const char *read_half(const json_t *half, struct import_row *row)
{
    if (json_object_get(half, "cpu_time"))
        return "the row contains CPU times (-C) instead of the collective's times";
    if (!figure(half, "time", &row->time_us) ||
        !figure(half, "alg_bw", &row->algbw_gbs) ||
        !figure(half, "bus_bw", &row->busbw_gbs))
        return "time, alg_bw or bus_bw is not a number";
    row->wrong = (int64_t)json_get_num(half, "nwrong", -1.0);
    return NULL;
}

static const char *read_what(const json_t *item, struct import_row *row)
{
    int64_t size = json_get_int(item, "size", -1);
    int64_t count = json_get_int(item, "count", -1);

    if (size < 0 || count < 0)
        return "size or count is not a number";
    row->size = (uint64_t)size;
    row->count = (uint64_t)count;
    row->dtype = dtype_lookup_nccl(json_get_str(item, "type", ""));
    if (row->dtype < 0)
        return "type is not a data type of nccl-tests";
    row->redop = redop_lookup(json_get_str(item, "redop", "none"));
    row->root = (int)strtol(json_get_str(item, "root", "-1"), NULL, 10);
    row->iters = (long)json_get_int(item, "actual_iterations", -1);
    return NULL;
}

static int take_result(struct import *import, size_t index, const json_t *item,
                       struct error *err)
{
    static const char *const halves[] = {"out_of_place", "in_place"};
    struct import_row row = {.iters = -1};
    const char *fault = read_what(item, &row);
    char pointer[48];

    for (size_t i = 0; i < 2 && !fault; i++) {
        const json_t *half = json_object_get(item, halves[i]);

        if (!json_is_object(half))
            continue;
        row.in_place = i == 1;
        fault = read_half(half, &row);
        if (!fault && import_add_row(import, &row, err))
            return -1;
    }
    snprintf(pointer, sizeof(pointer), "/results/%zu", index);
    if (fault)
        import_note_pointer(import, pointer, fault);
    return 0;
}

/* nccl-tests lists a process's first device only (util.cu, writeDeviceReport). */
static int take_devices(struct import *import, const json_t *config, struct error *err)
{
    const json_t *devices = json_object_get(config, "devices"), *device;
    int64_t each = json_get_int(config, "nthreads", 1) * json_get_int(config, "ngpus", 1);
    size_t i;

    if (each < 1 || each > IMPORT_RANKS_MAX)
        each = 1;
    json_array_foreach (devices, i, device) {
        int group = (int)json_get_int(device, "group", 0);
        struct import_table *table = &import->tables[import->n_tables - 1];

        if (group >= table->groups && group < IMPORT_RANKS_MAX)
            table->groups = group + 1;
        import_set_device(import, json_get_str(device, "device_info", ""));
        if (import_add_rank(import, json_get_str(device, "hostname", "?"), "", (int)each,
                            err))
            return -1;
    }
    return 0;
}

static long setting(const json_t *config, const char *name)
{
    int64_t value = json_get_int(config, name, -1);

    return value < 0 || value > 1000000000 ? -1 : (long)value;
}

static void take_settings(struct import_table *table, const json_t *config)
{
    for (size_t i = 0; i < IMPORT_SETTINGS; i++)
        table->settings[i] = setting(config, import_settings[i].name);
}

int nccl_json_read(struct import *import, const char *text, size_t len, struct error *err)
{
    bool is_whole;
    json_t *file = parse(text, len, &is_whole, err), *item;
    const json_t *config = json_object_get(file, "config");
    const json_t *args = json_object_get(file, "args");
    struct import_table *table;
    int result = -1;
    size_t i;

    if (!file)
        return -1;
    table = import_add_table(import, IMPORT_NCCL_TESTS_JSON, err);
    if (!table || take_devices(import, config, err))
        goto out;
    take_settings(table, config);
    if (json_string_value(json_array_get(args, 0)))
        table->collective = import_program(json_string_value(json_array_get(args, 0)));
    import_library((long)json_get_int(file, "nccl_version", 0), table->library);
    table->out_of_bounds =
        (long)json_get_int(json_object_get(file, "out_of_bounds"), "count", -1);
    table->is_below = json_is_false(json_object_get(
                          json_object_get(file, "average_bus_bandwidth"), "okay")) ||
                      strcmp(json_get_str(json_object_get(file, "average_bus_bandwidth"),
                                          "okay", "true"),
                             "false") == 0;
    table->has_begun = true;
    table->has_ended = is_whole && json_object_get(file, "out_of_bounds");
    json_array_foreach (json_object_get(file, "results"), i, item)
        if (take_result(import, i, item, err))
            goto out;
    result = 0;
out:
    json_decref(file);
    return result;
}
