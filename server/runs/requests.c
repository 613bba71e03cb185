/* requests.c - what people ask of the scheduler: runs, their cancellation, views */
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/nodes/machine.h"
#include "server/nodes/node.h"
#include "server/nodes/preflight_nodes.h"
#include "server/nodes/programs.h"
#include "server/runs/active_run.h"
#include "server/runs/cases.h"
#include "server/runs/judge_queue.h"
#include "server/runs/preview.h"
#include "server/runs/run.h"
#include "server/runs/run_eta.h"
#include "server/runs/run_log.h"
#include "server/runs/scheduler_state.h"
#include "server/store/run_listed.h"
#include "server/store/store.h"

/* Of a node without its inventory, in memory: as of one with it, what takes time. */
#define NODE_BRIEF_BYTES 1024

/* A run on its way to the disk. */
struct submission {
    struct scheduler *scheduler;
    struct run *run;
    scheduler_accepted *done;
    void *arg;
};

static void on_submitted(void *arg, const struct error *err,
                         const struct store_event *events, size_t n_events)
{
    struct submission *submission = arg;
    struct scheduler *scheduler = submission->scheduler;

    if (err) {
        run_destroy(submission->run);
        submission->done(submission->arg, err, NULL);
    } else {
        scheduler->counters.events += n_events;
        active_runs_add(scheduler->runs, scheduler, &scheduler->services, submission->run,
                        events[n_events - 1].id);
        submission->done(submission->arg, NULL, submission->run->id);
        wake_queue(scheduler->services.wake);
    }
    free(submission);
}

void scheduler_submit(struct scheduler *scheduler, struct run_spec *spec,
                      const char *idempotency_key, const char *body_hash,
                      scheduler_accepted *done, void *arg)
{
    struct submission *submission = memory_zeroed(1, sizeof(*submission), "a run");
    struct store_write *write = store_write_create();
    char id[ID_RUN_LENGTH + 1];
    struct run *run;
    json_t *event;

    id_run(id);
    run = run_create(id, spec, clock_read(scheduler->services.clock).wall_ms);
    event = json_pack("{s:s, s:n}", "state", run_state_name(run->state), "reason");
    run_log_write_row(write, run);
    store_write_event(write, run->id, run->created_ms, "state", event);
    if (idempotency_key)
        store_write_idempotency(write, idempotency_key, body_hash, run->id);
    json_decref(event);
    *submission = (struct submission){scheduler, run, done, arg};
    store_submit(scheduler->services.store, write, false, on_submitted, submission);
}

static json_t *run_json(const struct scheduler *scheduler, const char *run,
                        enum run_form form)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    if (!active)
        return NULL;
    return run_eta_add(active->run, clock_read(scheduler->services.clock).wall_ms,
                       run_to_json(active->run, form));
}

json_t *scheduler_run_packed(const struct scheduler *scheduler, const char *run)
{
    return run_json(scheduler, run, RUN_PACKED);
}

json_t *scheduler_run_listed(const struct scheduler *scheduler, const char *run)
{
    json_t *brief = run_json(scheduler, run, RUN_BRIEF);
    json_t *listed = brief ? run_listed(brief) : NULL;

    json_decref(brief);
    return listed;
}

bool scheduler_run_is_active(const struct scheduler *scheduler, const char *run)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    return active && !run_has_ended(active->run);
}

struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    return active ? run_log_watch(active->log, event, arg) : NULL;
}

int64_t scheduler_head(const struct scheduler *scheduler, const char *run)
{
    const struct active_run *active = active_runs_find(scheduler->runs, run);

    return active ? run_log_head(active->log) : 0;
}

int scheduler_cancel(struct scheduler *scheduler, const char *run, struct error *err)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    if (!active || run_has_ended(active->run))
        return error_set(err, ERROR_NOT_FOUND, "run '%.40s' is not active", run);
    if (active->cancel_reason)
        return 0;
    active->cancel_reason = memory_text("cancelled by request", "a reason");
    cases_stop(scheduler->cases, active->log, CASE_CANCELLED, active->cancel_reason);
    wake_queue(scheduler->services.wake);
    return 0;
}

bool scheduler_edit(struct scheduler *scheduler, const char *run, json_t *event)
{
    struct active_run *active = active_runs_find(scheduler->runs, run);

    if (active)
        run_log_append(active->log, "edit", event);
    return active != NULL;
}

json_t *scheduler_preview(const struct scheduler *scheduler, const struct run_spec *spec)
{
    struct placement placement;

    if (spec->launch.name)
        return preview(&scheduler->nodes, spec, NULL);
    scheduler_foresee(scheduler, spec, &placement);
    return preview(&scheduler->nodes, spec, &placement);
}

bool scheduler_plan_fits(const struct scheduler *scheduler, const struct run_spec *spec,
                         struct problems *problems)
{
    return preview_plan_fits(&scheduler->nodes, spec, problems);
}

json_t *scheduler_programs_json(const struct scheduler *scheduler)
{
    return programs_json(&scheduler->nodes);
}

bool scheduler_program_fits(const struct scheduler *scheduler,
                            const struct run_spec *spec, struct problems *problems)
{
    return !spec->program.name || program_args_fit(&scheduler->nodes, spec, problems);
}

static json_t *node_json(const struct node *node)
{
    json_t *out = node_to_json(node), *machine = machine_json(node, NULL);
    json_t *gpus = machine_gpus_json(node);

    json_object_update(out, machine);
    if (gpus)
        json_object_set_new(out, "gpus", gpus);
    json_decref(machine);
    return out;
}

json_t *scheduler_nodes_page(const struct scheduler *scheduler, const char *behind,
                             bool has_inventory, size_t max_bytes, bool *is_more)
{
    const struct node_registry *registry = &scheduler->nodes;
    size_t i = node_index_behind(registry, behind), bytes = 0;
    json_t *nodes = json_array();

    for (; i < registry->count && bytes < max_bytes; i++) {
        json_t *node = node_json(registry->nodes[i]);

        /* Most of a node, and most of it is the same everywhere. */
        if (!has_inventory)
            json_object_del(node, "inventory");
        json_array_append_new(nodes, node);
        bytes += has_inventory ? registry->nodes[i]->bytes : NODE_BRIEF_BYTES;
    }
    *is_more = i < registry->count;
    return nodes;
}

json_t *scheduler_node_json(const struct scheduler *scheduler, const char *name)
{
    const struct node *node = node_find(&scheduler->nodes, name);

    return node ? node_json(node) : NULL;
}

json_t *scheduler_preflight(const struct scheduler *scheduler, const char *name)
{
    const struct node_registry *registry = &scheduler->nodes;
    const struct node **nodes =
        memory_zeroed(registry->count + 1, sizeof(*nodes), "nodes");
    json_t *snapshot = NULL;
    size_t n = 0;

    for (size_t i = 0; i < registry->count; i++) {
        const struct node *node = registry->nodes[i];

        if (name ? strcmp(node->name, name) == 0 : node->state == NODE_ALIVE)
            nodes[n++] = node;
    }
    if (n > 0 || !name)
        snapshot = preflight_snapshot(nodes, n);
    free(nodes);
    return snapshot;
}

void scheduler_note_end(struct scheduler *scheduler, const char *run)
{
    judge_queue_note_end(scheduler->judge_queue, run);
}

void scheduler_await_values(struct scheduler *scheduler, const char *run,
                            store_settled *ready, void *arg)
{
    active_runs_note_ends(scheduler->runs, scheduler->judge_queue);
    judge_queue_await(scheduler->judge_queue, run, ready, arg);
}

const json_t *scheduler_checks(const struct scheduler *scheduler)
{
    return scheduler->checks;
}

void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *out)
{
    *out = scheduler->counters;
    for (size_t i = 0; i < scheduler->nodes.count; i++) {
        const struct node *node = scheduler->nodes.nodes[i];

        if (node->state == NODE_LOST)
            out->nodes_lost++;
        else if (node->state == NODE_ALIVE && node->n_occupants > 0)
            out->nodes_busy++;
        else if (node->state == NODE_ALIVE && !node->leaving)
            out->nodes_idle++;
    }
    for (size_t i = 0; i < scheduler->runs->n; i++) {
        enum run_state state = scheduler->runs->items[i]->run->state;

        if (state == RUN_QUEUED)
            out->runs_queued++;
        else if (state == RUN_LAUNCHING)
            out->runs_launching++;
        else if (state == RUN_WAITING_FOR_NODES)
            out->runs_waiting++;
        else if (state < RUN_COMPLETED)
            out->runs_running++;
    }
}
