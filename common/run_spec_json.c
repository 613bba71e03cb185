/* run_spec_json.c - a run's spec as JSON: what it came to, and what its workers read */
#include "common/run_spec.h"

#define MEASUREMENT_MEMBERS 15
#define PROGRAM_MEMBERS 2

/* Pass on an array or object that has all its n members; else memory ran out: NULL. */
static json_t *whole(json_t *value, size_t n)
{
    size_t have = json_is_array(value) ? json_array_size(value) : json_object_size(value);

    if (have == n)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *sizes_json(const struct run_spec *spec)
{
    json_t *sizes = json_array();

    for (size_t i = 0; i < spec->n_sizes; i++)
        json_array_append_new(sizes, json_integer((json_int_t)spec->sizes[i]));
    return whole(sizes, spec->n_sizes);
}

/* The fields that a worker needs too, in both forms the same. */
static json_t *measurement_json(const struct run_spec *spec)
{
    json_t *collectives = json_array(), *dtypes = json_array(), *redops = json_array();

    for (size_t i = 0; i < spec->n_collectives; i++)
        json_array_append_new(collectives,
                              json_string(collective_name(spec->collectives[i])));
    for (size_t i = 0; i < spec->n_dtypes; i++)
        json_array_append_new(dtypes, json_string(dtype_name(spec->dtypes[i])));
    for (size_t i = 0; i < spec->n_redops; i++)
        json_array_append_new(redops, json_string(redop_name(spec->redops[i])));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:I}",
        "collectives", whole(collectives, spec->n_collectives), "sizes", sizes_json(spec),
        "dtypes", whole(dtypes, spec->n_dtypes), "redops", whole(redops, spec->n_redops),
        "root", (json_int_t)spec->root, "iters", (json_int_t)spec->iters, "warmup",
        (json_int_t)spec->warmup, "agg_iters", (json_int_t)spec->agg_iters, "check",
        (json_int_t)spec->check, "cycles", (json_int_t)spec->cycles, "blocking",
        (json_int_t)spec->blocking, "unalign", (json_int_t)spec->unalign, "per_iter",
        spec->per_iter, "timing",
        spec->timing == TIMING_ISOLATED ? "isolated" : "throughput", "stall_s",
        (json_int_t)spec->stall_s);
}

/* false, or everything about it. */
static json_t *control_json(const struct run_spec *spec)
{
    return spec->control.kinds ? control_plan_json(&spec->control) : json_false();
}

/* Said only where there is an alltoallv to heed it. */
static bool has_traffic(const struct run_spec *spec)
{
    for (size_t i = 0; i < spec->n_collectives; i++) {
        if (spec->collectives[i] == COLLECTIVE_ALLTOALLV)
            return true;
    }
    return false;
}

/* In place of those, where a program runs. */
static json_t *program_json(const struct run_spec *spec)
{
    return json_pack("{s:{s:s, s:O}, s:I}", "program", "name", spec->program.name, "args",
                     spec->program.args, "stall_s", (json_int_t)spec->stall_s);
}

static json_t *nodes_json(const struct run_spec *spec)
{
    json_t *nodes = json_object();

    if (spec->nodes.count)
        json_object_set_new(nodes, "count", json_integer(spec->nodes.count));
    if (spec->nodes.min)
        json_object_set_new(nodes, "min", json_integer(spec->nodes.min));
    if (spec->nodes.max)
        json_object_set_new(nodes, "max", json_integer(spec->nodes.max));
    if (spec->nodes.names)
        json_object_set(nodes, "names", spec->nodes.names);
    if (spec->nodes.group)
        json_object_set_new(nodes, "group", json_string(spec->nodes.group));
    if (spec->nodes.labels)
        json_object_set(nodes, "labels", spec->nodes.labels);
    json_object_set_new(nodes, "wait_s", json_integer(spec->nodes.wait_s));
    return whole(nodes, 1 + !!spec->nodes.count + !!spec->nodes.min + !!spec->nodes.max +
                            !!spec->nodes.names + !!spec->nodes.group +
                            !!spec->nodes.labels);
}

json_t *run_spec_to_json(const struct run_spec *spec)
{
    bool is_program = spec->program.name != NULL;
    json_t *out = is_program ? program_json(spec) : measurement_json(spec);

    json_object_set_new(out, "name", json_string(spec->name));
    json_object_set(out, "labels", spec->labels);
    json_object_set_new(out, "priority", json_integer(spec->priority));
    if (!is_program) {
        json_object_set_new(out, "backend", json_string(spec->backend));
        json_object_set_new(out, "in_place",
                            spec->in_place && spec->out_of_place
                                ? json_string("both")
                                : json_boolean(spec->in_place));
        json_object_set_new(out, "control", control_json(spec));
        json_object_set_new(out, "split", split_to_json(&spec->split));
    }
    json_object_set_new(out, "repeats", json_integer(spec->repeats));
    json_object_set_new(out, "nodes", nodes_json(spec));
    json_object_set_new(out, "ranks_per_node",
                        spec->ranks_per_node ? json_integer(spec->ranks_per_node)
                                             : json_string("all"));
    json_object_set(out, "env", spec->env);
    json_object_set(out, "matrix", spec->matrix);
    json_object_set_new(out, "order",
                        json_string(spec->is_interleaved ? "interleaved" : "sequential"));
    json_object_set_new(out, "share", json_boolean(spec->share));
    if (spec->devices)
        json_object_set(out, "devices", spec->devices);
    if (spec->nccl_lib)
        json_object_set_new(out, "nccl_lib", json_string(spec->nccl_lib));
    if (has_traffic(spec))
        json_object_set_new(out, "traffic", traffic_to_json(&spec->traffic));
    if (spec->nccl)
        json_object_set(out, "nccl", spec->nccl);
    if (spec->fault)
        json_object_set(out, "fault", spec->fault);
    json_object_set_new(out, "timeout_s", json_integer(spec->timeout_s));
    return whole(out, (is_program ? PROGRAM_MEMBERS : MEASUREMENT_MEMBERS + 4) + 11 +
                          !!spec->devices + !!spec->nccl_lib + has_traffic(spec) +
                          !!spec->nccl + !!spec->fault);
}

json_t *run_spec_case_json(const struct run_spec *spec)
{
    json_t *out = spec->program.name ? program_json(spec) : measurement_json(spec);
    json_t *placements;

    if (spec->program.name)
        return whole(out, PROGRAM_MEMBERS);
    placements = json_array();
    if (spec->out_of_place)
        json_array_append_new(placements, json_false());
    if (spec->in_place)
        json_array_append_new(placements, json_true());
    json_object_set_new(
        out, "in_place",
        whole(placements, (size_t)spec->out_of_place + (size_t)spec->in_place));
    if (spec->control.kinds)
        json_object_set_new(out, "control", control_json(spec));
    json_object_set_new(out, "split", split_to_json(&spec->split));
    if (has_traffic(spec))
        json_object_set_new(out, "traffic", traffic_to_json(&spec->traffic));
    if (spec->nccl)
        json_object_set(out, "nccl", spec->nccl);
    if (spec->fault)
        json_object_set(out, "fault", spec->fault);
    return whole(out, MEASUREMENT_MEMBERS + 2 + !!spec->control.kinds +
                          has_traffic(spec) + !!spec->nccl + !!spec->fault);
}
