/* control.c - what the control series measures, and what a run can choose of it */
#include "common/control.h"

#include <string.h>

#define BYTES_MAX (INT64_C(1) << 40)
/* JSON around the text of an object: names, the rank's digits, the flag. */
#define AROUND 64

static const struct {
    const char *name, *figures[CONTROL_FIGURES_MAX + 1];
} kinds[CONTROL_COUNT] = {
    [CONTROL_BARRIER] = {"barrier", {"barrier"}},
    [CONTROL_GATHER_OBJECT] = {"gather_object",
                               {"gather_object", "reduce_flag", "object_slower"}},
    [CONTROL_CHUNKS] = {"chunks", {"one_large", "many_small", "many_slower"}},
};

const char *control_name(enum control_kind kind)
{
    return kinds[kind].name;
}

int control_lookup(const char *name)
{
    for (int i = 0; i < CONTROL_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    }
    return -1;
}

const char *control_figure(enum control_kind kind, size_t i)
{
    return i < CONTROL_FIGURES_MAX ? kinds[kind].figures[i] : NULL;
}

size_t control_figures(const struct control_plan *plan)
{
    size_t n = 0;

    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        for (size_t i = 0; plan->kinds & (1u << kind) && kinds[kind].figures[i]; i++)
            n++;
    }
    return n;
}

void control_plan_init(struct control_plan *plan)
{
    *plan = (struct control_plan){
        .bytes = UINT64_C(64) << 20, .pieces = 1000, .object_bytes = 64, .iters = 200};
}

uint64_t control_chunk_bytes(const struct control_plan *plan)
{
    uint64_t pieces = (uint64_t)plan->pieces;

    return plan->bytes / sizeof(float) / pieces * pieces * sizeof(float);
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + CONTROL_ALIGNMENT - 1) / CONTROL_ALIGNMENT * CONTROL_ALIGNMENT;
}

uint64_t control_object_most(const struct control_plan *plan)
{
    return round_up((uint64_t)plan->object_bytes + AROUND);
}

uint64_t control_lengths_bytes(int n)
{
    return round_up((uint64_t)n * sizeof(int64_t));
}

uint64_t control_bytes(const struct control_plan *plan, enum control_kind kind, int n)
{
    switch (kind) {
    case CONTROL_GATHER_OBJECT:
        return 2 * (control_lengths_bytes(n) + (uint64_t)n * control_object_most(plan));
    case CONTROL_CHUNKS:
        return control_chunk_bytes(plan);
    case CONTROL_BARRIER:
    case CONTROL_COUNT:
        break;
    }
    return 2 * CONTROL_ALIGNMENT;
}

uint64_t control_bytes_most(const struct control_plan *plan, int n, uint64_t limit)
{
    uint64_t most = 0;

    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        uint64_t bytes = plan->kinds & (1u << kind)
                             ? control_bytes(plan, (enum control_kind)kind, n)
                             : 0;

        most = bytes <= limit && bytes > most ? bytes : most;
    }
    return most;
}

json_t *control_plan_json(const struct control_plan *plan)
{
    json_t *series = json_array();
    size_t n = 0;

    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        if (plan->kinds & (1u << kind)) {
            json_array_append_new(series, json_string(kinds[kind].name));
            n++;
        }
    }
    if (json_array_size(series) != n) {
        json_decref(series);
        return NULL;
    }
    return json_pack("{s:o, s:I, s:I, s:I, s:I}", "series", series, "bytes",
                     (json_int_t)plan->bytes, "pieces", (json_int_t)plan->pieces,
                     "object_bytes", (json_int_t)plan->object_bytes, "iters",
                     (json_int_t)plan->iters);
}

static int read_number(const json_t *json, const char *key, int64_t max, int64_t *out,
                       struct error *err)
{
    const json_t *value = json_object_get(json, key);
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 1 || n > max)
        return error_set(err, ERROR_INVALID, "control: %s must be from 1 to %lld", key,
                         (long long)max);
    *out = n;
    return 0;
}

static int read_series(const json_t *json, unsigned *out, struct error *err)
{
    const json_t *array = json_object_get(json, "series"), *item;
    size_t i;

    *out = 0;
    json_array_foreach(array, i, item)
    {
        int kind = json_is_string(item) ? control_lookup(json_string_value(item)) : -1;

        if (kind < 0)
            return error_set(err, ERROR_INVALID, "control: series[%zu] is not known", i);
        *out |= 1u << kind;
    }
    if (*out == 0)
        return error_set(err, ERROR_INVALID, "control: series must be an array of names");
    return 0;
}

int control_plan_read(const json_t *json, struct control_plan *out, struct error *err)
{
    int64_t bytes = 0, pieces = 0, object_bytes = 0, iters = 0;
    unsigned series;

    if (read_series(json, &series, err) ||
        read_number(json, "bytes", BYTES_MAX, &bytes, err) ||
        read_number(json, "pieces", CONTROL_PIECES_MAX, &pieces, err) ||
        read_number(json, "object_bytes", CONTROL_OBJECT_BYTES_MAX, &object_bytes, err) ||
        read_number(json, "iters", CONTROL_ITERS_MAX, &iters, err))
        return -1;
    if (bytes / pieces < 4)
        return error_set(err, ERROR_INVALID,
                         "control: bytes must be at least 4 for each of the pieces");
    *out = (struct control_plan){series, (uint64_t)bytes, (long)pieces,
                                 (long)object_bytes, (long)iters};
    return 0;
}
