/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec.c - parses and validates the run spec with a table of its fields and with
 * checks across fields */
#include "common/spec/run_spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/env_policy.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/program_schema.h"
#include "common/spec/run_matrix.h"
#include "common/spec/run_spec_parts.h"
#include "common/spec/threshold.h"

#define ENV_MAX 64
#define PATH_BYTES_MAX 1024
#define LONG_BLOCK_US 100e3

static const char *const usual_backends[] = {"auto", "nccl", "host", "sim"};
static const char *const timings[] = {"throughput", "isolated", NULL};
static const char *const binds[] = {"auto", "core", "numa", "none", NULL};
static const char *const auto_word[] = {"auto", NULL};
static const char *const all_word[] = {"all", NULL};
static const char *const orders[] = {"interleaved", "sequential", NULL};
static const char *const preflights[] = {"warn", "require", "off", NULL};
static const char *const topologies[] = {"off", "dump", NULL};
static const char *const patterns[] = {"all", "pairs", "scaling", NULL};

static void parse_pattern(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    const char *text = json_string_value(value);

    if (text && strcmp(text, "bisect") == 0)
        problems_add(problems, pointer,
                     "bisect was removed: use pairs, which finds smaller faults");
    else
        spec_choice.parse(field, value, spec, pointer, problems);
}

static json_t *show_pattern(const struct spec_field *field, const struct run_spec *spec)
{
    return spec_choice.show(field, spec);
}

static const struct spec_kind pattern_kind = {parse_pattern, show_pattern, NULL, NULL};

static void parse_in_place(const struct spec_field *field, json_t *value,
                           struct run_spec *spec, const char *pointer,
                           struct problems *problems)
{
    const char *text = json_string_value(value);

    (void)field;
    if (json_is_boolean(value)) {
        spec->in_place = json_is_true(value);
        spec->out_of_place = !spec->in_place;
    } else if (text && strcmp(text, "both") == 0) {
        spec->in_place = spec->out_of_place = true;
    } else {
        problems_add(problems, pointer, "must be \"both\", true or false");
    }
}

static json_t *show_in_place(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return spec->in_place && spec->out_of_place ? json_string("both")
                                                : json_boolean(spec->in_place);
}

static const struct spec_kind in_place_kind = {parse_in_place, show_in_place, NULL, NULL};

static void check_env(json_t *value, const char *pointer, struct problems *problems)
{
    const char *name;
    json_t *text;

    if (!json_is_object(value) || json_object_size(value) > ENV_MAX) {
        problems_add(problems, pointer, "must be an object of at most %d strings",
                     ENV_MAX);
        return;
    }
    json_object_foreach (value, name, text) {
        char at[256];
        const char *reason = NULL;

        spec_child_pointer(at, sizeof(at), pointer, name);
        if (env_policy_check(name, &reason) == ENV_POLICY_REFUSE)
            problems_add(problems, at, "%.60s %s", name, reason);
        else
            spec_check_env_value(text, at, problems);
    }
}

const char *const run_file_names[] = {"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", NULL};

static bool is_file_name(const char *name)
{
    for (size_t i = 0; run_file_names[i]; i++)
        if (strcmp(run_file_names[i], name) == 0)
            return true;
    return false;
}

static void check_files(json_t *value, const char *pointer, struct problems *problems)
{
    const char *name;
    json_t *text;

    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object of contents, not %s",
                     spec_type_name(value));
        return;
    }
    json_object_foreach (value, name, text) {
        size_t bytes = json_string_length(text);
        char at[256];

        spec_child_pointer(at, sizeof(at), pointer, name);
        if (!is_file_name(name))
            problems_add(problems, at, "is neither NCCL_TOPO_FILE nor NCCL_GRAPH_FILE");
        else if (!json_is_string(text))
            problems_add(problems, at, "must be a string, the file's content, not %s",
                         spec_type_name(text));
        else if (bytes == 0 || bytes > RUN_FILE_MAX)
            problems_add(problems, at, "must be 1 to %d bytes, not %zu", RUN_FILE_MAX,
                         bytes);
    }
}

bool run_backend_is_usual(const char *name)
{
    for (size_t i = 0; i < sizeof(usual_backends) / sizeof(usual_backends[0]); i++)
        if (strcmp(name, usual_backends[i]) == 0)
            return true;
    return false;
}

static void check_backend_name(json_t *value, const char *pointer,
                               struct problems *problems)
{
    if (!program_name_is_valid(json_string_value(value)))
        problems_add(problems, pointer,
                     "must be auto, nccl, host, sim, or the name of another worker that "
                     "the nodes offer");
}

static void check_program_name(json_t *value, const char *pointer,
                               struct problems *problems)
{
    if (!program_name_is_valid(json_string_value(value)))
        problems_add(problems, pointer,
                     "must be the name of a program that the nodes offer");
}

static void check_args(json_t *value, const char *pointer, struct problems *problems)
{
    if (!json_is_object(value))
        problems_add(problems, pointer, "must be an object of arguments by name, not %s",
                     spec_type_name(value));
}

static const struct spec_field program_table[] = {
    {"name", NULL, SPEC_REQUIRED,
     SPEC_TEXT(program.name, PROGRAM_NAME_MAX, check_program_name),
     .about = "a program that the nodes offer"},
    {"args", "{}", 0, SPEC_JSON(program.args, check_args)},
};

static const struct spec_fields program_fields = {program_table, 2,
                                                  "an object with name and args"};

static void check_launcher_name(json_t *value, const char *pointer,
                                struct problems *problems)
{
    if (!program_name_is_valid(json_string_value(value)))
        problems_add(problems, pointer, "must be the name of a launcher of the server");
}

static const struct spec_field launch_table[] = {
    {"name", NULL, SPEC_REQUIRED,
     SPEC_TEXT(launch.name, PROGRAM_NAME_MAX, check_launcher_name),
     .about = "name of a launcher that GET /launchers lists"},
    {"args", "{}", 0, SPEC_JSON(launch.args, check_args)},
    {"wait_s", "86400", 0, SPEC_INTEGER(launch.wait_s, 1, 30 * 86400),
     .about = "seconds to wait for the job to start; then the run fails"},
};

static const struct spec_fields launch_fields = {
    launch_table, sizeof(launch_table) / sizeof(launch_table[0]),
    "an object such as {\"name\": \"slurm\", \"args\": {}}"};

static const char *const transports[] = {"auto", "tcp", "ucx", NULL};

static const struct spec_field host_table[] = {
    {"transport", "\"auto\"", 0, SPEC_CHOICE(host.transport, transports),
     .about =
         "transport between hosts; auto: UCX if all nodes have it and RDMA, else tcp"},
    {"sockets", "\"auto\"", 0,
     SPEC_WORD_OR_INTEGER(host.sockets, auto_word, 1, HOST_SOCKETS_MAX),
     .about = "sockets per pair of ranks on different hosts; auto: by the link's speed"},
};

static const struct spec_fields host_fields = {host_table, 2, "an object"};

/* Parse the options of one backend. Defaults are not shown, because they would be
 * meaningless in runs with another backend. */
static void parse_asked(const struct spec_field *field, json_t *value,
                        struct run_spec *spec, const char *pointer,
                        struct problems *problems)
{
    spec_members.parse(field, value, spec, pointer, problems);
    *(json_t **)spec_field_at(field, spec) = json_incref(value);
}

static json_t *show_asked(const struct spec_field *field, const struct run_spec *spec)
{
    return json_incref(*(json_t *const *)spec_field_of(field, spec));
}

static bool asked_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    return json_object_size(*(json_t *const *)spec_field_of(field, spec)) > 0;
}

static void release_asked(const struct spec_field *field, struct run_spec *spec)
{
    json_decref(*(json_t **)spec_field_at(field, spec));
}

static const struct spec_kind asked = {parse_asked, show_asked, asked_is_said,
                                       release_asked};

#define MEASURES (SPEC_MEASUREMENT | SPEC_CASE)
#define SETS (SPEC_MEASUREMENT | SPEC_CASE | SPEC_SETTING)

/* clang-format off */
static const struct spec_field table[] = {
    {"name", "\"\"", SPEC_APART, SPEC_TEXT(name, RUN_SPEC_NAME_MAX, NULL),
     .about = "shown in lists; need not be unique"},
    {"labels", "{}", SPEC_APART, SPEC_JSON(labels, spec_check_labels),
     .about = "up to 32 keys and values to filter lists by"},
    {"priority", "0", SPEC_APART, SPEC_INTEGER(priority, -1000, 1000),
     .about = "runs with a higher value start first"},
    {"background", "false", SPEC_APART, SPEC_BOOLEAN(background),
     .about = "starts after all other runs, and is cancelled when one of them waits for its nodes"},
    {"backend", "\"auto\"", SPEC_MEASUREMENT | SPEC_APART, SPEC_TEXT(backend, PROGRAM_NAME_MAX, check_backend_name)},
    {"collectives", "[\"all_reduce\"]", MEASURES | SPEC_APART, SPEC_LIST(collectives, &spec_collective_names, 1),
     .about = "measured one after another"},
    {"sizes", "{\"min\":\"8\",\"max\":\"128M\",\"factor\":2}", MEASURES | SPEC_APART, SPEC_OWN(spec_sizes),
     .about = "buffer sizes in bytes or as text such as 64K: a range by factor or step, or a list"},
    {"dtypes", "[\"float32\"]", MEASURES | SPEC_APART, SPEC_LIST(dtypes, &spec_dtype_names, 1), .option = "d datatype",
     .about = "each collective is measured with each type"},
    {"redops", "[\"sum\"]", MEASURES | SPEC_APART, SPEC_LIST(redops, &spec_redop_names, 1), .option = "o op",
     .about = "reductions, for the collectives that reduce"},
    {"root", "0", MEASURES | SPEC_APART, SPEC_INTEGER(root, -1, 1 << 20),
     .option = "r root",
     .about = "the root rank; -1: each rank once"},
    {"in_place", "\"both\"", MEASURES | SPEC_APART, SPEC_OWN(in_place_kind),
     .about = "true: send and receive buffers share memory; both: measure both variants"},
    {"iters", "\"auto\"", MEASURES | SPEC_SHAPES, SPEC_WORD_OR_INTEGER(iters, auto_word, 1, 1000000),
     .option = "n iters",
     .about = "timed calls per size; auto: blocks of calls until their median is certain"},
    {"block_ms", "2", MEASURES | SPEC_SHOWN, SPEC_REAL(block_ms, 0.01, 10000),
     .about = "with iters auto: the length of a block; at least 20 calls, or 100 ms if they take longer"},
    {"samples", "{}", MEASURES | SPEC_SHOWN, SPEC_OWN(spec_samples), .members = &spec_samples_fields,
     .about = "with iters auto: limits for the number of blocks"},
    {"noise_limit", "0.1", SPEC_MEASUREMENT | SPEC_APART, SPEC_REAL(noise_limit, 0.0001, 10),
     .about = "a row is uncertain if half its 95 % interval is a larger share of its time"},
    {"warmup", "5", MEASURES | SPEC_SHOWN, SPEC_INTEGER(warmup, 0, 1000000), .option = "w warmup_iters",
     .about = "untimed warm-up calls per size, before the timed calls"},
    {"check", "1", MEASURES | SPEC_APART, SPEC_INTEGER(check, 0, 100), .option = "c check",
     .about = "calls per size whose results are checked; 0: none"},
    {"cycles", "1", SETS | SPEC_SHOWN, SPEC_INTEGER(cycles, 1, 10000),
     .option = "N run_cycles",
     .about = "repetitions of all rows with the same communicator"},
    {"blocking", "0", SETS | SPEC_SHAPES, SPEC_INTEGER(blocking, 0, 3),
     .option = "z blocking",
     .about = "step after each timed call, as nccl-tests' -z: 0 none, 1 wait and barrier, 2 wait, 3 wait and untimed barrier"},
    {"unalign", "0", SETS | SPEC_SHAPES, SPEC_INTEGER(unalign, 0, 4096),
     .option = "u unalign",
     .about = "elements by which send and receive buffers are shifted"},
    {"agg_iters", "1", SETS | SPEC_SHAPES, SPEC_INTEGER(agg_iters, 1, 10000), .option = "m agg_iters",
     .about = "calls that are launched together as one group"},
    {"per_iter", "false", SETS | SPEC_SHAPES, SPEC_BOOLEAN(per_iter),
     .option = "I per_iter_timing",
     .about = "with timing throughput: report samples_us too"},
    {"timing", "\"throughput\"", MEASURES | SPEC_SHAPES, SPEC_CHOICE(timing, timings)},
    {"bind", "\"auto\"", SETS | SPEC_SHAPES, SPEC_CHOICE(bind, binds),
     .about = "the CPUs that a rank may use: docs/reference/backends.md"},
    {"repeats", "1", SPEC_APART, SPEC_INTEGER(repeats, 1, 1000)},
    {"nodes", "{}", SPEC_APART, SPEC_MEMBERS(&spec_nodes_fields),
     .about = "the nodes that take part; default: all idle nodes"},
    {"launch", NULL, SPEC_APART, SPEC_MEMBERS(&launch_fields),
     .about = "get the nodes from an engine: docs/reference/launchers.md"},
    {"pattern", "\"all\"", SPEC_APART, SPEC_OWN(pattern_kind), SPEC_AT(pattern), .choices = patterns,
     .about = "which of the run's nodes measure together: docs/reference/patterns.md"},
    {"rounds", NULL, SPEC_APART, SPEC_INTEGER(rounds, 1, 10000),
     .about = "with the pattern pairs: partners per node; default: 8, or all others up to 16 nodes"},
    {"concurrent", "true", SPEC_SHAPES, SPEC_BOOLEAN(concurrent),
     .about = "groups of a pattern measure at the same time"},
    {"ranks_per_node", "\"all\"", SPEC_APART,
     SPEC_WORD_OR_INTEGER(ranks_per_node, all_word, 1, 4096),
     .about = "ranks on each node; all: as many as it offers"},
    {"split", "\"none\"", MEASURES | SPEC_SHAPES, SPEC_OWN(spec_split),
     .about = "several communicators at once: by node, by local rank, or by arithmetic on ranks as in nccl-tests"},
    {"traffic", "{\"spread\":1}", MEASURES | SPEC_SHAPES, SPEC_OWN(spec_traffic),
     .about = "for alltoallv: the bytes between each pair of ranks"},
    {"devices", NULL, SPEC_MEASUREMENT | SPEC_SHAPES, SPEC_JSON(devices, spec_check_devices),
     .about = "GPUs by their index in the inventory, for all nodes or by node"},
    {"nccl_lib", NULL, SPEC_MEASUREMENT | SPEC_SHOWN, SPEC_TEXT(nccl_lib, PATH_BYTES_MAX, spec_check_path),
     .about = "path of the libnccl to load; the nodes must list it"},
    {"env", "{}", SPEC_APART, SPEC_JSON(env, check_env),
     .about = "environment variables of the workers"},
    {"files", NULL, SPEC_APART, SPEC_JSON(files, check_files),
     .about = "files to create for the workers: contents by environment variable, which is set to the file's path"},
    {"topology", "\"off\"", SPEC_CASE | SPEC_SHOWN, SPEC_CHOICE(topology, topologies),
     .about = "dump: keep the topology and graphs that NCCL detects on each node"},
    {"matrix", "{}", SPEC_APART, SPEC_JSON(matrix, run_matrix_check),
     .about = "values of environment variables by name: a case per combination; null: unset"},
    {"order", "\"interleaved\"", SPEC_APART, SPEC_CHOICE(order, orders),
     .about = "interleaved: the cases alternate, in reverse order in every second repeat"},
    {"program", NULL, SPEC_CASE | SPEC_SHAPES, SPEC_MEMBERS(&program_fields),
     .about = "a program to run instead of collectives: docs/reference/programs.md"},
    {"nccl", "{}", SETS | SPEC_SHAPES, SPEC_OWN(asked), SPEC_AT(nccl.given), .members = &spec_nccl_fields,
     .about = "for the nccl backend only"},
    {"host", "{}", SETS | SPEC_SHAPES, SPEC_OWN(asked), SPEC_AT(host.given), .members = &host_fields,
     .about = "for the host backend only"},
    {"share", "false", SPEC_SHAPES, SPEC_BOOLEAN(share),
     .about = "other runs may use the nodes at the same time"},
    {"avoid_suspects", "false", SPEC_APART, SPEC_BOOLEAN(avoid_suspects),
     .about = "use no node that a watch suspects"},
    {"preflight", "\"warn\"", SPEC_APART, SPEC_CHOICE(preflight, preflights),
     .about = "checks of the nodes before the start; warn: report findings, require: refuse the run"},
    {"fault", NULL, SPEC_CASE | SPEC_HIDDEN | SPEC_SHOWN, SPEC_JSON(fault, spec_check_object)},
    {"baseline", NULL, SPEC_MEASUREMENT | SPEC_APART, SPEC_OWN(spec_baseline), .members = &spec_baseline_fields,
     .about = "compare the run with earlier ones: docs/reference/gates.md"},
    {"margin_percent", "2", SPEC_APART, SPEC_REAL(margin_percent, 0.01, 100),
     .about = "a change within this margin counts as none"},
    {"slow_percent", "3", SPEC_APART, SPEC_REAL(slow_percent, 0.1, 90),
     .about = "a node, link or rack is slow only if it is behind by at least this much"},
    {"slow_together", NULL, SPEC_APART, SPEC_TEXT(slow_together, RUN_SPEC_REASON_MAX, NULL),
     .about = "with the pattern pairs: the figure that is slow when all nodes measure together; set by a follow-up"},
    {"late_percent", "20", SPEC_APART, SPEC_REAL(late_percent, 0.1, 1000),
     .about = "a rank is late only if it is behind by at least this share of a call"},
    {"thresholds", "{}", SPEC_APART, SPEC_JSON(thresholds, threshold_check),
     .about = "checks by name: docs/reference/gates.md"},
    {"timeout_s", "600", SPEC_APART, SPEC_INTEGER(timeout_s, 1, 30 * 86400), .option = "T timeout",
     .about = "limit of the run from the start of its first case"},
    {"join_s", NULL, SPEC_APART, SPEC_INTEGER(join_s, 3, 86400),
     .about = "time limit for all ranks to join; the same limit then applies to forming the communicator; default: the server's --join-timeout-s plus 1 s per 20 ranks"},
    {"stall_s", "30", SPEC_CASE | SPEC_APART, SPEC_INTEGER(stall_s, 3, 86400),
     .about = "a case without progress for this long fails"},
};
/* clang-format on */

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object"};

const struct spec_fields *run_spec_fields(void)
{
    return &fields;
}

const char *run_bind_name(enum run_bind bind)
{
    return binds[bind];
}

const char *run_pattern_name(enum run_pattern pattern)
{
    return patterns[pattern];
}

enum run_bind run_bind_lookup(const char *name)
{
    for (int i = 0; name && binds[i]; i++)
        if (strcmp(binds[i], name) == 0)
            return (enum run_bind)i;
    return BIND_AUTO;
}

/* A run either measures collectives or starts a program. Reject a spec with fields of
 * both, since some would be ignored. */
static void refuse_both(const json_t *body, struct problems *problems)
{
    if (!json_object_get(body, "program"))
        return;
    for (size_t i = 0; i < fields.count; i++) {
        char pointer[64];

        snprintf(pointer, sizeof(pointer), "/%s", table[i].name);
        if (table[i].uses & SPEC_MEASUREMENT && json_object_get(body, table[i].name))
            problems_add(problems, pointer,
                         "applies only to a measurement of collectives, but this run "
                         "starts a program");
    }
}

/* Reject fields that do not apply to the pattern. Cases on different nodes are never
 * aggregated, so a baseline needs the pattern `all`. */
static void check_pattern(const struct run_spec *spec, struct problems *problems)
{
    if (spec->rounds && spec->pattern != PATTERN_PAIRS)
        problems_add(problems, "/rounds", "applies only to the pattern pairs, not to %s",
                     patterns[spec->pattern]);
    if (spec->slow_together && spec->pattern != PATTERN_PAIRS)
        problems_add(problems, "/slow_together",
                     "applies only to the pattern pairs, not to %s",
                     patterns[spec->pattern]);
    if (spec->pattern == PATTERN_ALL)
        return;
    if (spec->baseline.given)
        problems_add(
            problems, "/baseline",
            "cannot be combined with a pattern, whose cases run on different nodes");
    if (spec->traffic.matrix)
        problems_add(problems, "/traffic",
                     "cannot be combined with a pattern, because its matrix fixes the "
                     "number of ranks");
}

/* Reject options for another backend, which would be ignored. With backend "auto",
 * options for each backend are valid. */
static void check_backend(const struct run_spec *spec, struct problems *problems)
{
    const struct {
        const char *pointer;
        const char *of;
        bool is_asked;
    } owned[] = {
        {"/nccl", "nccl", json_object_size(spec->nccl.given) > 0},
        {"/host", "host", json_object_size(spec->host.given) > 0},
        {"/devices", "nccl", spec->devices != NULL},
        {"/files", "nccl", spec->files != NULL},
        {"/topology", "nccl", spec->topology == RUN_TOPOLOGY_DUMP},
        {"/nccl_lib", "nccl", spec->nccl_lib != NULL},
        {"/matrix/nccl_lib", "nccl",
         json_object_get(spec->matrix, RUN_MATRIX_LIBRARY) != NULL},
    };

    if (spec->program.name || !spec->backend || strcmp(spec->backend, "auto") == 0)
        return;
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        if (owned[i].is_asked && strcmp(spec->backend, owned[i].of) != 0)
            problems_add(problems, owned[i].pointer,
                         "applies only to the backend %s, but the run requests %s. "
                         "Remove it, or set backend to %s",
                         owned[i].of, spec->backend, owned[i].of);
}

static void check_topology(const struct run_spec *spec, struct problems *problems)
{
    if (spec->topology == RUN_TOPOLOGY_DUMP && spec->split.kind != SPLIT_NONE)
        problems_add(
            problems, "/topology",
            "cannot be combined with a split, whose communicators renumber the ranks");
    for (size_t i = 0; run_file_names[i]; i++) {
        char at[64];

        snprintf(at, sizeof(at), "/files/%s", run_file_names[i]);
        if (json_object_get(spec->files, run_file_names[i]) &&
            (json_object_get(spec->env, run_file_names[i]) ||
             json_object_get(spec->matrix, run_file_names[i])))
            problems_add(problems, at, "is also set in env or matrix");
    }
}

/* Parse the fields that have all of the uses (enum spec_use). If `uses` is 0, as for a
 * request to the API, reject unknown fields. */
static struct run_spec *parse(json_t *body, unsigned uses, struct problems *problems)
{
    struct run_spec *spec = memory_zeroed(1, sizeof(*spec), "a run's spec");
    size_t before = problems->count;

    spec_fields_read(&fields, uses, body, spec, "", problems);
    if (uses == 0)
        spec_fields_refuse_others(&fields, body, "", problems);
    refuse_both(body, problems);
    run_matrix_check_spec(spec, problems);
    check_pattern(spec, problems);
    check_backend(spec, problems);
    check_topology(spec, problems);
    run_spec_check_nodes(spec, problems);
    run_spec_check_nccl(spec, problems);
    run_spec_check_ranks(spec, body, problems);
    threshold_check_spec(spec, problems);
    if (problems->count > before) {
        run_spec_destroy(spec);
        return NULL;
    }
    return spec;
}

struct run_spec *run_spec_parse(json_t *body, struct problems *problems)
{
    if (!json_is_object(body)) {
        problems_add(problems, "", "must be a JSON object; {} selects all defaults");
        return NULL;
    }
    return parse(body, 0, problems);
}

struct run_spec *run_spec_read_case(json_t *file, struct error *err)
{
    struct problems problems;
    struct run_spec *spec;
    const json_t *first;

    problems_init(&problems);
    spec = parse(file, SPEC_CASE, &problems);
    first = json_array_get(problems.errors, 0);
    if (!spec)
        error_set(err, ERROR_INVALID, "%s %s", json_get_str(first, "pointer", ""),
                  json_get_str(first, "detail", ""));
    problems_release(&problems);
    return spec;
}

double run_spec_block_us(const struct run_spec *spec, double call_us)
{
    double least_us = fmin(RUN_SPEC_ITERS_USUAL * call_us, LONG_BLOCK_US);

    return spec->timing == TIMING_ISOLATED
               ? call_us
               : fmax(fmax(spec->block_ms * 1e3, least_us), call_us);
}

struct series_plan run_spec_plan(const struct run_spec *spec)
{
    return (struct series_plan){.collectives = spec->collectives,
                                .n_collectives = spec->n_collectives,
                                .dtypes = spec->dtypes,
                                .n_dtypes = spec->n_dtypes,
                                .redops = spec->redops,
                                .n_redops = spec->n_redops,
                                .sizes = spec->sizes,
                                .n_sizes = spec->n_sizes,
                                .root = spec->root,
                                .out_of_place = spec->out_of_place,
                                .in_place = spec->in_place,
                                .cycles = spec->cycles};
}

static json_t *show(const struct run_spec *spec, unsigned uses)
{
    return spec_fields_show(&fields, spec, uses,
                            spec->program.name ? SPEC_MEASUREMENT : 0);
}

json_t *run_spec_to_json(const struct run_spec *spec)
{
    return show(spec, 0);
}

json_t *run_spec_case_json(const struct run_spec *spec)
{
    return show(spec, SPEC_CASE);
}

json_t *run_spec_settings(const json_t *spec)
{
    json_t *settings = json_object();

    for (size_t i = 0; i < fields.count; i++) {
        json_t *usual, *value = json_object_get(spec, table[i].name);

        if (!(table[i].uses & SPEC_SETTING) || !value)
            continue;
        usual = json_loads(table[i].usual, JSON_DECODE_ANY, NULL);
        if (!json_equal(value, usual))
            json_object_set(settings, table[i].name, value);
        json_decref(usual);
    }
    return settings;
}

void run_spec_destroy(struct run_spec *spec)
{
    if (!spec)
        return;
    spec_fields_release(&fields, spec);
    free(spec);
}
