/* run_spec.c - what a run asks for: the one parser and validator of POST /runs */
#include "common/run_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/env_policy.h"
#include "common/json_util.h"
#include "common/program_schema.h"
#include "common/run_matrix.h"
#include "common/run_spec_fields.h"

#define ENV_MAX 64

static void field_name(struct run_spec *spec, json_t *value, const char *pointer,
                       struct problems *problems)
{
    spec_parse_string(value, RUN_SPEC_NAME_MAX, &spec->name, pointer, problems);
}

static void field_labels(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    spec_parse_labels(&spec->labels, value, pointer, problems);
}

static void field_backend(struct run_spec *spec, json_t *value, const char *pointer,
                          struct problems *problems)
{
    static const char *const names[] = {"auto", "nccl", "host", "sim"};
    const char *text = json_string_value(value);

    for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            spec_parse_string(value, RUN_SPEC_NAME_MAX, &spec->backend, pointer,
                              problems);
            return;
        }
    }
    problems_add(problems, pointer, "must be one of auto, nccl, host, sim");
}

/* A list of names looked up by `lookup`, without repetition, into out[0..max). */
static size_t parse_names(json_t *value, int (*lookup)(const char *),
                          const char *(*name_at)(int), int max, int *out,
                          const char *pointer, struct problems *problems)
{
    struct buf known;
    char at[64];
    size_t n = 0;

    if (!json_is_array(value) || json_array_size(value) == 0) {
        problems_add(problems, pointer, "must be an array of at least one name");
        return 0;
    }
    buf_init(&known, 1024);
    for (int i = 0; i < max; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", name_at(i));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        int found = text ? lookup(text) : -1;
        bool repeated = false;

        for (size_t k = 0; k < n; k++)
            repeated = repeated || out[k] == found;
        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (found < 0)
            problems_add(problems, at, "must be one of %s", known.data ? known.data : "");
        else if (repeated)
            problems_add(problems, at, "%s is listed twice", text);
        else
            out[n++] = found;
    }
    buf_release(&known);
    return n;
}

static const char *collective_name_at(int i)
{
    return collective_name((enum collective_kind)i);
}

static const char *dtype_name_at(int i)
{
    return dtype_name((enum dtype)i);
}

static const char *redop_name_at(int i)
{
    return redop_name((enum redop)i);
}

static void field_collectives(struct run_spec *spec, json_t *value, const char *pointer,
                              struct problems *problems)
{
    int found[COLLECTIVE_COUNT];

    spec->n_collectives = 0;
    if (json_is_array(value) && json_array_size(value) == 0)
        return; /* whether that is right is for check_control */
    spec->n_collectives = parse_names(value, collective_lookup, collective_name_at,
                                      COLLECTIVE_COUNT, found, pointer, problems);
    for (size_t i = 0; i < spec->n_collectives; i++)
        spec->collectives[i] = (enum collective_kind)found[i];
}

static void field_dtypes(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    int found[DTYPE_COUNT];

    spec->n_dtypes = parse_names(value, dtype_lookup, dtype_name_at, DTYPE_COUNT, found,
                                 pointer, problems);
    for (size_t i = 0; i < spec->n_dtypes; i++)
        spec->dtypes[i] = (enum dtype)found[i];
}

static void field_redops(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    int found[REDOP_COUNT];

    spec->n_redops = parse_names(value, redop_lookup, redop_name_at, REDOP_COUNT, found,
                                 pointer, problems);
    for (size_t i = 0; i < spec->n_redops; i++)
        spec->redops[i] = (enum redop)found[i];
}

static void field_in_place(struct run_spec *spec, json_t *value, const char *pointer,
                           struct problems *problems)
{
    const char *text = json_string_value(value);

    if (json_is_boolean(value)) {
        spec->in_place = json_is_true(value);
        spec->out_of_place = !spec->in_place;
    } else if (text && strcmp(text, "both") == 0) {
        spec->in_place = spec->out_of_place = true;
    } else {
        problems_add(problems, pointer, "must be \"both\", true or false");
    }
}

static void field_timing(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    const char *text = json_string_value(value);

    if (text && strcmp(text, "throughput") == 0)
        spec->timing = TIMING_THROUGHPUT;
    else if (text && strcmp(text, "isolated") == 0)
        spec->timing = TIMING_ISOLATED;
    else
        problems_add(problems, pointer, "must be \"throughput\" or \"isolated\"");
}

static void field_ranks_per_node(struct run_spec *spec, json_t *value,
                                 const char *pointer, struct problems *problems)
{
    const char *text = json_string_value(value);

    if (text && strcmp(text, "all") == 0)
        spec->ranks_per_node = 0;
    else if (json_is_integer(value))
        spec_parse_integer(value, 1, 4096, &spec->ranks_per_node, pointer, problems);
    else
        problems_add(problems, pointer, "must be \"all\" or an integer from 1 to 4096");
}

static void field_env(struct run_spec *spec, json_t *value, const char *pointer,
                      struct problems *problems)
{
    const char *name;
    json_t *text;

    if (!json_is_object(value) || json_object_size(value) > ENV_MAX) {
        problems_add(problems, pointer, "must be an object of at most %d strings",
                     ENV_MAX);
        return;
    }
    json_object_foreach(value, name, text)
    {
        char at[256];
        const char *reason = NULL;

        spec_child_pointer(at, sizeof(at), pointer, name);
        if (env_policy_check(name, &reason) == ENV_POLICY_REFUSE)
            problems_add(problems, at, "%.60s %s", name, reason);
        else
            spec_check_env_value(text, at, problems);
    }
    json_decref(spec->env);
    spec->env = json_incref(value);
}

static void field_matrix(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    size_t before = problems->count;

    run_matrix_check(value, pointer, problems);
    if (problems->count > before)
        return;
    json_decref(spec->matrix);
    spec->matrix = json_incref(value);
}

static void field_order(struct run_spec *spec, json_t *value, const char *pointer,
                        struct problems *problems)
{
    const char *text = json_string_value(value);

    spec->is_interleaved = text && strcmp(text, "interleaved") == 0;
    if (!spec->is_interleaved && (!text || strcmp(text, "sequential") != 0))
        problems_add(problems, pointer, "must be \"interleaved\" or \"sequential\"");
}

static void field_program(struct run_spec *spec, json_t *value, const char *pointer,
                          struct problems *problems)
{
    const char *key, *name = json_get_str(value, "name", "");
    json_t *member, *args = json_object_get(value, "args");
    char at[256];

    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object with name and args, not %s",
                     spec_type_name(value));
        return;
    }
    json_object_foreach(value, key, member)
    {
        spec_child_pointer(at, sizeof(at), pointer, key);
        if (strcmp(key, "name") != 0 && strcmp(key, "args") != 0)
            problems_add(problems, at, "unknown field; known are name, args");
    }
    snprintf(at, sizeof(at), "%s/name", pointer);
    if (!program_name_is_valid(name))
        problems_add(problems, at, "must be the name of a program that the nodes offer");
    snprintf(at, sizeof(at), "%s/args", pointer);
    if (args && !json_is_object(args))
        problems_add(problems, at, "must be an object of arguments by name, not %s",
                     spec_type_name(args));
    free(spec->program.name);
    json_decref(spec->program.args);
    spec->program.name = strdup(name);
    spec->program.args = json_is_object(args) ? json_incref(args) : json_object();
    if (!spec->program.name || !spec->program.args)
        problems_add(problems, pointer, "out of memory");
}

static void field_share(struct run_spec *spec, json_t *value, const char *pointer,
                        struct problems *problems)
{
    if (!json_is_boolean(value))
        problems_add(problems, pointer, "must be true or false");
    spec->share = json_is_true(value);
}

static void field_fault(struct run_spec *spec, json_t *value, const char *pointer,
                        struct problems *problems)
{
    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object");
        return;
    }
    json_decref(spec->fault);
    spec->fault = json_incref(value);
}

static const struct field {
    const char *name;
    field_parser *parse; /* NULL: an integer, as follows */
    size_t offset;       /* of a long in struct run_spec */
    long min, max;
    bool is_measurement; /* of collectives: has no meaning for a program */
} fields[] = {
    {.name = "name", .parse = field_name},
    {.name = "labels", .parse = field_labels},
    {"priority", NULL, offsetof(struct run_spec, priority), -1000, 1000, false},
    {.name = "backend", .parse = field_backend, .is_measurement = true},
    {.name = "collectives", .parse = field_collectives, .is_measurement = true},
    {.name = "sizes", .parse = run_spec_parse_sizes, .is_measurement = true},
    {.name = "dtypes", .parse = field_dtypes, .is_measurement = true},
    {.name = "redops", .parse = field_redops, .is_measurement = true},
    {"root", NULL, offsetof(struct run_spec, root), -1, 1 << 20, true},
    {.name = "in_place", .parse = field_in_place, .is_measurement = true},
    {"iters", NULL, offsetof(struct run_spec, iters), 1, 1000000, true},
    {"warmup", NULL, offsetof(struct run_spec, warmup), 0, 1000000, true},
    {"agg_iters", NULL, offsetof(struct run_spec, agg_iters), 1, 10000, true},
    {"check", NULL, offsetof(struct run_spec, check), 0, 100, true},
    {"cycles", NULL, offsetof(struct run_spec, cycles), 1, 10000, true},
    {"blocking", NULL, offsetof(struct run_spec, blocking), 0, 3, true},
    {"unalign", NULL, offsetof(struct run_spec, unalign), 0, 4096, true},
    {.name = "per_iter", .parse = run_spec_parse_per_iter, .is_measurement = true},
    {.name = "timing", .parse = field_timing, .is_measurement = true},
    {"repeats", NULL, offsetof(struct run_spec, repeats), 1, 1000, false},
    {.name = "nodes", .parse = run_spec_parse_nodes},
    {.name = "ranks_per_node", .parse = field_ranks_per_node},
    {.name = "split", .parse = run_spec_parse_split, .is_measurement = true},
    {.name = "traffic", .parse = run_spec_parse_traffic, .is_measurement = true},
    {.name = "devices", .parse = run_spec_parse_devices, .is_measurement = true},
    {.name = "nccl_lib", .parse = run_spec_parse_nccl_lib, .is_measurement = true},
    {.name = "env", .parse = field_env},
    {.name = "matrix", .parse = field_matrix},
    {.name = "order", .parse = field_order},
    {.name = "program", .parse = field_program},
    {.name = "control", .parse = run_spec_parse_control, .is_measurement = true},
    {.name = "nccl", .parse = run_spec_parse_nccl, .is_measurement = true},
    {.name = "share", .parse = field_share},
    {.name = "fault", .parse = field_fault},
    {"timeout_s", NULL, offsetof(struct run_spec, timeout_s), 1, 30 * 86400, false},
    {"stall_s", NULL, offsetof(struct run_spec, stall_s), 3, 86400, false},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static void unknown_field(const char *name, const char *pointer,
                          struct problems *problems)
{
    struct buf known;

    buf_init(&known, 1024);
    for (size_t i = 0; i < N_FIELDS && !problems_are_full(problems); i++) {
        if (fields[i].parse != field_fault)
            buf_printf(&known, "%s%s", i ? ", " : "", fields[i].name);
    }
    problems_add(problems, pointer, "unknown field '%.60s'; known are %s", name,
                 known.data ? known.data : "");
    buf_release(&known);
}

static struct run_spec *create_default(void)
{
    struct run_spec *spec = calloc(1, sizeof(*spec));

    if (!spec)
        return NULL;
    spec->name = strdup("");
    spec->labels = json_object();
    spec->backend = strdup("auto");
    spec->collectives[0] = COLLECTIVE_ALL_REDUCE;
    spec->dtypes[0] = DTYPE_FLOAT32;
    spec->redops[0] = REDOP_SUM;
    spec->n_collectives = spec->n_dtypes = spec->n_redops = 1;
    control_plan_init(&spec->control);
    traffic_init(&spec->traffic);
    spec->sizes = calloc(RUN_SPEC_SIZES_MAX, sizeof(*spec->sizes));
    spec->out_of_place = spec->in_place = true;
    spec->iters = 20;
    spec->warmup = 5;
    spec->agg_iters = spec->check = spec->repeats = spec->cycles = 1;
    spec->nodes.wait_s = 30;
    spec->env = json_object();
    spec->matrix = json_object();
    spec->is_interleaved = true;
    spec->timeout_s = 600;
    spec->stall_s = 30;
    if (!spec->name || !spec->labels || !spec->backend || !spec->sizes || !spec->env ||
        !spec->matrix) {
        run_spec_destroy(spec);
        return NULL;
    }
    run_spec_expand_factor(spec, 8, UINT64_C(128) << 20, 2);
    return spec;
}

/* A run measures collectives or runs a program; fields of both would be ignored in part.
 */
static void refuse_both(json_t *body, struct problems *problems)
{
    if (!json_object_get(body, "program"))
        return;
    for (size_t i = 0; i < N_FIELDS; i++) {
        char pointer[64];

        snprintf(pointer, sizeof(pointer), "/%s", fields[i].name);
        if (fields[i].is_measurement && json_object_get(body, fields[i].name))
            problems_add(problems, pointer,
                         "belongs to a measurement of collectives: a run has that or a "
                         "program");
    }
}

/* No collectives are enough where the control series are to be measured. */
static void check_control(const struct run_spec *spec, json_t *body,
                          struct problems *problems)
{
    json_t *collectives = json_object_get(body, "collectives");

    if (json_is_array(collectives) && json_array_size(collectives) == 0 &&
        spec->control.kinds == 0)
        problems_add(problems, "/collectives",
                     "must be an array of at least one name, unless control asks for "
                     "something");
}

/* Room for the most sizes was for parsing; thousands of specs wait in a queue. */
static void trim_sizes(struct run_spec *spec)
{
    uint64_t *sizes = realloc(spec->sizes, (spec->n_sizes + 1) * sizeof(*sizes));

    if (sizes)
        spec->sizes = sizes;
}

struct run_spec *run_spec_parse(json_t *body, struct problems *problems)
{
    struct run_spec *spec;
    size_t before = problems->count;
    const char *key;
    json_t *value;

    if (!json_is_object(body)) {
        problems_add(problems, "", "must be a JSON object; {} asks for the defaults");
        return NULL;
    }
    spec = create_default();
    if (!spec) {
        problems_add(problems, "", "out of memory");
        return NULL;
    }
    json_object_foreach(body, key, value)
    {
        char pointer[256];
        size_t i = 0;

        spec_child_pointer(pointer, sizeof(pointer), "", key);
        while (i < N_FIELDS && strcmp(fields[i].name, key) != 0)
            i++;
        if (i == N_FIELDS)
            unknown_field(key, pointer, problems);
        else if (fields[i].parse)
            fields[i].parse(spec, value, pointer, problems);
        else
            spec_parse_integer(value, fields[i].min, fields[i].max,
                               (long *)((char *)spec + fields[i].offset), pointer,
                               problems);
    }
    refuse_both(body, problems);
    check_control(spec, body, problems);
    run_matrix_check_spec(spec, problems);
    run_spec_check_nccl(spec, problems);
    run_spec_check_ranks(spec, problems);
    if (problems->count > before) {
        run_spec_destroy(spec);
        return NULL;
    }
    trim_sizes(spec);
    return spec;
}

void run_spec_destroy(struct run_spec *spec)
{
    if (!spec)
        return;
    free(spec->name);
    json_decref(spec->labels);
    free(spec->backend);
    free(spec->sizes);
    json_decref(spec->nodes.names);
    free(spec->nodes.group);
    json_decref(spec->nodes.labels);
    json_decref(spec->env);
    json_decref(spec->matrix);
    free(spec->program.name);
    json_decref(spec->program.args);
    traffic_release(&spec->traffic);
    json_decref(spec->devices);
    free(spec->nccl_lib);
    json_decref(spec->nccl);
    json_decref(spec->fault);
    free(spec);
}
