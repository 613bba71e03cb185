/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - simulates one case of a run on the nodes of a fleet */
#include "agent/fleet/case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fleet/figures.h"
#include "agent/worker/bench/progress.h"
#include "agent/worker/bench/describe.h"
#include "agent/worker/sim/sim_comm.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"

#define PROGRESS_MS 1000 /* interval of progress events, as for workers */

struct part {
    struct fleet_node *node;
    int first_rank, ranks;
    bool is_gone;
};

struct fleet_case {
    const struct fleet_config *config;
    struct case_id id;
    struct part *parts;
    size_t n_parts, n_expected;
    int64_t began_ns;
    json_t *spec, *env; /* members of the start command */
    struct case_file *file;
    struct sim_params params;
    struct sim_model *models; /* by group */
    bool is_running;
    /* The current row, in all groups. */
    size_t next;               /* number of the row that follows */
    json_t *results;           /* the row's events, sent when the row ends */
    uint64_t done, operations; /* operations before the current row, and in this row */
    int64_t row_began_ns;
    double row_s; /* the wall time that the row takes */
    uint64_t series, size;
    uint64_t hangs_at;    /* number of the operation that hangs, from 1; 0: none */
    uv_timer_t timers[2]; /* for the end of the row, and for progress events */
    int n_handles;
};

/* ---- Events of ranks ---- */

static void send_phase(const struct fleet_case *one, const struct part *part, int rank,
                       const char *phase, json_t *more)
{
    double seconds = (double)(clock_monotonic_ns() - one->began_ns) / 1e9;

    fleet_node_send(part->node, &one->id, rank, "phase",
                    describe_phase(phase, seconds, more));
}

/* End the node's ranks. `why` is the reason for their failure; NULL: they succeeded. */
static void end_part(struct fleet_case *one, struct part *part, const char *code,
                     const char *why, int peer)
{
    for (int rank = part->first_rank; rank < part->first_rank + part->ranks; rank++) {
        if (!why)
            send_phase(one, part, rank, "finishing", NULL);
        outbox_drop_progress(fleet_node_outbox(part->node), &one->id, rank);
        fleet_node_send(part->node, &one->id, rank, "done",
                        why ? describe_failure(code, why, peer)
                            : json_pack("{s:b}", "ok", 1));
        fleet_node_send(part->node, &one->id, rank, "exit",
                        json_pack("{s:i, s:[]}", "code", why ? 1 : 0, "tail"));
    }
    part->is_gone = true;
    fleet_node_end_case(part->node, &one->id);
}

static void halt(struct fleet_case *one)
{
    one->is_running = false;
    for (int i = 0; i < 2; i++)
        uv_timer_stop(&one->timers[i]);
}

/* Fail the case: rank 0 with this error, the other ranks with the loss of rank 0. */
static void fail(struct fleet_case *one, const struct error *err)
{
    const char *code = err->code == ERROR_UNSUPPORTED ? "unsupported" : "bad_case";

    halt(one);
    for (size_t i = 0; i < one->n_parts; i++) {
        struct part *part = &one->parts[i];

        if (!part->is_gone && part->first_rank == 0)
            end_part(one, part, code, err->text, -1);
        else if (!part->is_gone)
            end_part(one, part, "peer_lost", "lost rank 0: its process has ended", 0);
    }
}

/* ---- Progress ---- */

static bool hangs(const struct fleet_case *one, int rank)
{
    const struct split_groups *groups = &one->file->groups;

    return (one->file->fault.kind == FAULT_HANG && one->file->fault.rank == rank) ||
           sim_model_hangs(&one->models[groups->of[rank]], groups->place[rank]);
}

/* Return the number of operations that a rank has begun. In a hang, all ranks but the
 * hanging ones have begun the operation. */
static uint64_t begun(const struct fleet_case *one)
{
    double passed = (double)(clock_monotonic_ns() - one->row_began_ns) / 1e9;
    double fraction = one->row_s > 0 ? passed / one->row_s : 1;
    uint64_t now = one->done + 1 +
                   (uint64_t)((fraction < 1 ? fraction : 1) * (double)one->operations);

    return one->hangs_at > 0 ? one->hangs_at : now;
}

static void report_progress(uv_timer_t *timer)
{
    struct fleet_case *one = timer->data;
    struct progress at;
    char *texts[2];

    for (int late = 0; late < 2; late++) {
        uint64_t now = begun(one);

        memset(&at, 0, sizeof(at));
        progress_row(&at, one->series, one->size);
        atomic_store(&at.first, one->done);
        progress_begin_many(&at, now - 1);
        progress_finish(&at);
        progress_begin_many(&at, late ? 0 : 1);
        json_t *event = progress_describe(&at);
        json_object_set_new(event, "type", json_string("progress"));
        texts[late] = json_text(event);
        json_decref(event);
    }
    for (size_t i = 0; i < one->n_parts; i++) {
        const struct part *part = &one->parts[i];

        for (int k = 0; k < part->ranks && !part->is_gone; k++) {
            int rank = part->first_rank + k;
            const char *text = texts[one->hangs_at > 0 && hangs(one, rank)];

            outbox_set_progress(fleet_node_outbox(part->node), &one->id, rank, text,
                                strlen(text));
        }
    }
    free(texts[0]);
    free(texts[1]);
}

/* ---- Rows ---- */

/* Returns NULL if the group's operation hangs. */
static json_t *compute(struct fleet_case *one, const struct bench_row *row)
{
    const struct run_spec *spec = one->file->spec;
    struct measurement figures;
    uint64_t operations;
    json_t *result;
    double us, seconds;

    figures_make(&one->models[row->row.group], one->file, row, &figures, &us);
    if (us >= HUGE_VAL) {
        one->hangs_at = one->done + 1;
        return NULL;
    }
    operations = (uint64_t)(figures.iters + spec->warmup * spec->agg_iters);
    seconds = (double)operations * us / 1e6 * one->params.sleep_fraction;
    one->operations = operations > one->operations ? operations : one->operations;
    one->row_s = seconds > one->row_s ? seconds : one->row_s;
    result =
        row_result(row, one->file, &backend_sim, &figures, json_null(), json_array());
    measurement_release(&figures);
    return result;
}

static int add_row(struct fleet_case *one, size_t number, struct error *err)
{
    const struct row_memory memory = {.share_bytes = SIM_MEMORY_BYTES,
                                      .text = "rank 0, simulated"};
    char reason[ROW_REASON_MAX];
    struct bench_row row;
    json_t *result;

    if (row_lay_out(one->file, number, 0, &row, err))
        return -1;
    one->series = row.row.series;
    one->size = row.layout.size_bytes;
    if (row_must_skip(&row, &memory, reason)) {
        result = row_describe(&row, one->file, &backend_sim);
        json_object_set_new(result, "skipped", json_string(reason));
    } else {
        result = compute(one, &row);
    }
    if (result)
        json_array_append_new(one->results, result);
    row_release(&row);
    return 0;
}

static void end_row(uv_timer_t *timer);

static void begin_rows(struct fleet_case *one)
{
    size_t n_groups = (size_t)one->file->groups.n;
    const struct fault *fault = &one->file->fault;
    struct error err;

    one->done += one->operations;
    one->operations = 0;
    one->row_s = 0;
    one->row_began_ns = clock_monotonic_ns();
    for (size_t i = 0; i < n_groups; i++) {
        if (add_row(one, one->next + i, &err)) {
            fail(one, &err);
            return;
        }
    }
    one->next += n_groups;
    if (fault->kind == FAULT_HANG && fault->op > one->done &&
        fault->op <= one->done + one->operations)
        one->hangs_at = fault->op;
    if (one->hangs_at == 0)
        uv_timer_start(&one->timers[0], end_row, (uint64_t)(one->row_s * 1000), 0);
}

static void end_row(uv_timer_t *timer)
{
    struct fleet_case *one = timer->data;
    size_t i;
    json_t *result;

    /* Only the node of rank 0 sends results. */
    for (size_t k = 0; k < one->n_parts; k++) {
        if (one->parts[k].first_rank != 0 || one->parts[k].is_gone)
            continue;
        json_array_foreach (one->results, i, result)
            fleet_node_send(one->parts[k].node, &one->id, 0, "result",
                            json_incref(result));
    }
    json_array_clear(one->results);
    if (one->next < series_rows(&one->file->plan)) {
        begin_rows(one);
        return;
    }
    halt(one);
    for (size_t k = 0; k < one->n_parts; k++)
        if (!one->parts[k].is_gone)
            end_part(one, &one->parts[k], NULL, NULL, -1);
}

/* ---- Start ---- */

/* Read the parameters from the run's variables and from the fleet's slow places and seed.
 */
static int read_params(struct fleet_case *one, struct error *err)
{
    char *slow = fleet_config_slow(one->config, err);
    const char *name, *own = json_get_str(one->env, "SIM_SLOW", "");
    json_t *value;

    if (!slow) {
        log_warn("%s", err->text);
        return -1;
    }
    if (*slow)
        json_object_set_new(one->env, "SIM_SLOW",
                            json_sprintf("%s%s%s", own, *own ? "," : "", slow));
    free(slow);
    if (one->config->seed && !json_object_get(one->env, "SIM_SEED"))
        json_object_set_new(one->env, "SIM_SEED", json_string(one->config->seed));
    sim_params_init(&one->params);
    json_object_foreach (one->env, name, value)
        if (json_is_string(value) &&
            sim_params_set(&one->params, name, json_string_value(value), err))
            return -1;
    return 0;
}

static int prepare(struct fleet_case *one, struct error *err)
{
    const struct fault *fault;

    one->file = case_file_parse(one->spec, true, err);
    if (!one->file)
        return -1;
    fault = &one->file->fault;
    if (fault->kind != FAULT_NONE && (fault->kind != FAULT_HANG || fault->op == 0)) {
        return error_set(
            err, ERROR_UNSUPPORTED,
            "ringbench-sim simulates only the fault hang with an operation (op)");
    }
    if (one->file->spec->timing == TIMING_ISOLATED || one->file->spec->per_iter) {
        return error_set(
            err, ERROR_UNSUPPORTED,
            "ringbench-sim does not simulate single calls: omit per_iter and "
            "timing isolated, or use real agents with the backend sim");
    }
    if (backend_supports_case(&backend_sim, one->file, err) || read_params(one, err))
        return -1;
    one->models =
        memory_zeroed((size_t)one->file->groups.n, sizeof(*one->models), "models");
    for (int i = 0; i < one->file->groups.n; i++)
        sim_model_init(&one->models[i], &one->params, one->file, i, fleet_config_rack,
                       one->config);
    return 0;
}

static void begin(struct fleet_case *one)
{
    struct error err;

    if (prepare(one, &err)) {
        fail(one, &err);
        return;
    }
    for (size_t i = 0; i < one->n_parts; i++) {
        const struct part *part = &one->parts[i];

        for (int rank = part->first_rank; rank < part->first_rank + part->ranks; rank++) {
            send_phase(one, part, rank, "connected",
                       describe_connected(&backend_sim, NULL));
            send_phase(one, part, rank, "running", NULL);
        }
    }
    one->is_running = true;
    uv_timer_start(&one->timers[1], report_progress, scaled_ms(PROGRESS_MS),
                   scaled_ms(PROGRESS_MS));
    begin_rows(one);
}

/* ---- Calls by nodes ---- */

struct fleet_case *fleet_case_create(uv_loop_t *loop, const struct fleet_config *config,
                                     const struct command *start)
{
    struct fleet_case *one = memory_zeroed(1, sizeof(*one), "case");

    one->config = config;
    one->id = start->id;
    one->n_expected = (size_t)start->group_world_size;
    one->parts = memory_zeroed(one->n_expected, sizeof(*one->parts), "case");
    one->began_ns = clock_monotonic_ns();
    one->spec = json_incref((json_t *)(uintptr_t)start->spec);
    one->env = start->env ? json_copy(start->env) : json_object();
    one->results = json_array();
    one->n_handles = 2;
    for (int i = 0; i < 2; i++) {
        uv_timer_init(loop, &one->timers[i]);
        one->timers[i].data = one;
    }
    return one;
}

static void on_closed(uv_handle_t *handle)
{
    struct fleet_case *one = handle->data;

    if (--one->n_handles > 0)
        return;
    for (int i = 0; one->models && i < one->file->groups.n; i++)
        sim_model_release(&one->models[i]);
    free(one->models);
    case_file_destroy(one->file);
    json_decref(one->results);
    json_decref(one->spec);
    json_decref(one->env);
    free(one->parts);
    free(one);
}

void fleet_case_destroy(struct fleet_case *one)
{
    for (int i = 0; one && i < 2; i++)
        uv_close((uv_handle_t *)&one->timers[i], on_closed);
}

const struct case_id *fleet_case_id(const struct fleet_case *one)
{
    return &one->id;
}

bool fleet_case_is_over(const struct fleet_case *one)
{
    bool is_over = !one->is_running;

    for (size_t i = 0; i < one->n_parts; i++)
        is_over = is_over && one->parts[i].is_gone;
    return is_over;
}

void fleet_case_join(struct fleet_case *one, struct fleet_node *node,
                     const struct command *start)
{
    struct part *part = &one->parts[one->n_parts];
    const char *name = fleet_node_name(node);

    if (one->n_parts == one->n_expected)
        return;
    one->n_parts++;
    *part = (struct part){node, start->ranks[0].rank, (int)start->n_ranks, false};
    for (int rank = part->first_rank; rank < part->first_rank + part->ranks; rank++) {
        fleet_node_send(node, &one->id, rank, "spawn",
                        json_pack("{s:i}", "pid", rank + 1));
        fleet_node_send(node, &one->id, rank, "hello",
                        describe_hello(&backend_sim, rank + 1, name, name));
        send_phase(one, part, rank, "joined", NULL);
    }
    if (one->n_parts == one->n_expected)
        begin(one);
}

static struct part *part_of(struct fleet_case *one, const struct fleet_node *node)
{
    for (size_t i = 0; i < one->n_parts; i++)
        if (one->parts[i].node == node && !one->parts[i].is_gone)
            return &one->parts[i];
    return NULL;
}

void fleet_case_forget(struct fleet_case *one, struct fleet_node *node)
{
    struct part *part = part_of(one, node);

    if (part) {
        halt(one);
        part->is_gone = true;
    }
}

void fleet_case_stop(struct fleet_case *one, struct fleet_node *node)
{
    struct part *part = part_of(one, node);

    if (part) {
        halt(one);
        end_part(one, part, "cancelled", "stopped on request", -1);
    }
}
