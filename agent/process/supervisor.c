/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.c - runs this node's part of cases */
#include "agent/process/supervisor.h"

#include <hwloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/case_document.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define REMEMBERED 64 /* ended cases, for which commands may still arrive */
#define GONE_PENDING UINT64_MAX

struct live_case {
    struct supervisor *supervisor;
    struct case_id id;
    char path[CASE_PATH_MAX]; /* the case file; "": none */
    struct case_process *process;
    int *alive; /* by rank: started and not ended */
    size_t n_ranks, n_alive, n_started;
    struct live_case *next;
};

struct ended_case {
    struct case_id id;
    uint64_t gone_seq; /* number of the event `gone`; 0: none; GONE_PENDING: not sent */
};

struct supervisor {
    struct supervisor_params params;
    struct env_list base; /* inherited variables, and variables common to all workers */
    struct live_case *cases;
    struct ended_case ended[REMEMBERED];
    size_t ended_next;
    bool is_paused;
};

static struct live_case *find_live(const struct supervisor *supervisor,
                                   const struct case_id *id)
{
    struct live_case *c = supervisor->cases;

    while (c && !case_id_equal(&c->id, id))
        c = c->next;
    return c;
}

/* Returns REMEMBERED if the case is not in `ended`. */
static size_t find_ended(const struct supervisor *supervisor, const struct case_id *id)
{
    size_t i = 0;

    while (i < REMEMBERED && !case_id_equal(&supervisor->ended[i].id, id))
        i++;
    return i;
}

/* Return the entry of a case in `ended`. A new entry replaces the oldest. */
static struct ended_case *remember(struct supervisor *supervisor,
                                   const struct case_id *id)
{
    size_t place = find_ended(supervisor, id);

    if (place == REMEMBERED) {
        place = supervisor->ended_next;
        supervisor->ended_next = (place + 1) % REMEMBERED;
    }
    supervisor->ended[place].id = *id;
    return &supervisor->ended[place];
}

static void end_case(struct supervisor *supervisor, const struct case_id *id,
                     const char *why)
{
    const struct supervisor_params *params = &supervisor->params;
    struct ended_case *ended = remember(supervisor, id);

    ended->gone_seq =
        outbox_add_steal(params->outbox, id, CASE_NO_RANK,
                         json_pack("{s:s, s:s*}", "type", "gone", "reason", why));
    params->on_gone(params->arg, &ended->id, ended->gone_seq);
}

static void refuse(struct supervisor *supervisor, const struct case_id *id,
                   const char *reason)
{
    log_warn("run %s case %lld cannot start: %s", id->run, (long long)id->number, reason);
    outbox_add_steal(supervisor->params.outbox, id, CASE_NO_RANK,
                     json_pack("{s:s, s:o}", "type", "refused", "reason",
                               clean_text_json(reason, strlen(reason))));
}

/* ---- one case ---- */

static void destroy_case(struct live_case *c)
{
    struct live_case **at = &c->supervisor->cases;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    case_process_destroy(c->process);
    if (c->path[0])
        case_document_remove_files(c->path);
    free(c->alive);
    free(c);
}

static void finish_case(struct live_case *c)
{
    struct supervisor *supervisor = c->supervisor;
    struct case_id id = c->id;

    destroy_case(c);
    end_case(supervisor, &id, NULL);
}

static void forget_rank(struct live_case *c, int rank)
{
    for (size_t i = 0; i < c->n_alive; i++)
        if (c->alive[i] == rank) {
            c->alive[i] = c->alive[--c->n_alive];
            break;
        }
    outbox_drop_progress(c->supervisor->params.outbox, &c->id, rank);
}

static void on_event(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len)
{
    struct live_case *c = arg;
    struct outbox *outbox = c->supervisor->params.outbox;

    if (kind == EVENT_PROGRESS) {
        outbox_set_progress(outbox, &c->id, rank, text, len);
        return;
    }
    if (kind == EVENT_STARTED && c->n_alive < c->n_ranks) {
        c->alive[c->n_alive++] = rank;
        c->n_started++;
    }
    if (kind == EVENT_ENDED)
        forget_rank(c, rank);
    outbox_add_line(outbox, &c->id, rank, text, len);
}

static void report(const struct live_case *c, const char *text)
{
    log_error("run %s case %lld: %s", c->id.run, (long long)c->id.number, text);
    outbox_add_steal(c->supervisor->params.outbox, &c->id, CASE_NO_RANK,
                     json_pack("{s:s, s:s, s:o}", "type", "log", "level", "error", "text",
                               clean_text_json(text, strlen(text))));
}

/* ringbench-case died without reporting the end of its ranks, which were killed. */
static void end_ranks(struct live_case *c)
{
    while (c->n_alive > 0) {
        int rank = c->alive[0];

        forget_rank(c, rank);
        outbox_add_steal(
            c->supervisor->params.outbox, &c->id, rank,
            json_pack("{s:s, s:i, s:[]}", "type", "exit", "signal", SIGKILL, "tail"));
    }
}

static void on_end(void *arg, const struct case_end *end)
{
    struct live_case *c = arg;
    char text[1200];

    if (end->fault && c->n_started == 0)
        refuse(c->supervisor, &c->id, end->fault);
    else if (end->fault)
        report(c, end->fault);
    end_ranks(c);
    snprintf(text, sizeof(text), "processes were killed but have not exited: %s",
             end->left);
    if (end->left[0])
        report(c, text);
    finish_case(c);
}

/* Refuse NCCL while a process of an ended case may still hold a GPU. */
static int check_lingering(const struct supervisor_params *params,
                           const struct command *command, struct error *err)
{
    char text[400];

    if (strcmp(command->backend, "nccl") != 0 ||
        !case_table_lingers(params->processes, text, sizeof(text)))
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, SUPERVISOR_HELD, text);
}

/* The document's `conditions`. Programs have no `bind`, because they place themselves. */
static json_t *conditions_request(const struct bind_plan *plan, bool is_program,
                                  bool is_alone)
{
    hwloc_cpuset_t set = binder_cpus(plan);
    char *cpus = NULL;
    json_t *wanted;

    if (!set || hwloc_bitmap_list_asprintf(&cpus, set) < 0)
        memory_out("a list of CPUs");
    wanted = json_pack("{s:s, s:o*, s:b}", "cpus", cpus, "bind",
                       is_program ? NULL : bind_plan_json(plan), "is_alone", is_alone);
    hwloc_bitmap_free(set);
    free(cpus);
    return wanted;
}

static int start_case(struct live_case *c, const struct command *command,
                      struct error *err)
{
    struct supervisor *supervisor = c->supervisor;
    const struct supervisor_params *params = &supervisor->params;
    const struct case_handlers handlers = {on_event, on_end, c};
    bool is_program = json_is_object(json_object_get(command->spec, "program"));
    size_t n_others = supervisor_live(supervisor) - 1;
    struct bind_plan plan = {.to = BIND_NONE};
    json_t *document = NULL;

    if (check_lingering(params, command, err) == 0 &&
        (is_program || binder_plan(params->binder, command, params->inventory, n_others,
                                   &plan, err) == 0))
        document = case_document(params, &supervisor->base, command, &plan, c->path, err);
    if (document) {
        json_object_set_new(
            document, "conditions",
            conditions_request(&plan, is_program,
                               n_others == 0 && command->agents_here <= 1));
        c->process = case_process_start(params->processes, document, &handlers, err);
        if (c->process)
            case_process_pause(c->process, supervisor->is_paused);
    }
    bind_plan_release(&plan);
    json_decref(document);
    return c->process ? 0 : -1;
}

void supervisor_start(struct supervisor *supervisor, const struct command *command)
{
    const struct case_id *id = &command->id;
    struct live_case *c;
    struct error err;

    if (find_live(supervisor, id) || find_ended(supervisor, id) < REMEMBERED)
        return;
    if (command->fault.code != ERROR_NONE) {
        refuse(supervisor, id, command->fault.text);
        end_case(supervisor, id, NULL);
        return;
    }
    c = memory_zeroed(1, sizeof(*c), "a case");
    c->alive = memory_zeroed(command->n_ranks, sizeof(*c->alive), "a case's ranks");
    c->supervisor = supervisor;
    c->id = *id;
    c->n_ranks = command->n_ranks;
    c->next = supervisor->cases;
    supervisor->cases = c;
    if (start_case(c, command, &err) == 0)
        return;
    refuse(supervisor, id, err.text);
    finish_case(c);
}

void supervisor_stop(struct supervisor *supervisor, const struct case_id *id,
                     bool with_stacks)
{
    struct live_case *c = find_live(supervisor, id);
    size_t place;

    if (c) {
        case_process_stop(c->process, with_stacks);
        return;
    }
    place = find_ended(supervisor, id);
    /* The outbox already holds the event `gone` of this case. */
    if (place < REMEMBERED &&
        supervisor->ended[place].gone_seq > outbox_acked(supervisor->params.outbox))
        return;
    end_case(supervisor, id, NULL);
}

void supervisor_stop_all(struct supervisor *supervisor)
{
    for (struct live_case *c = supervisor->cases; c; c = c->next)
        case_process_stop(c->process, false);
}

void supervisor_adopt(struct supervisor *supervisor, const struct case_id *id)
{
    remember(supervisor, id)->gone_seq = GONE_PENDING;
}

void supervisor_end_adopted(struct supervisor *supervisor)
{
    for (size_t i = 0; i < REMEMBERED; i++) {
        struct case_id id = supervisor->ended[i].id;

        if (supervisor->ended[i].gone_seq == GONE_PENDING)
            end_case(supervisor, &id, "its agent was killed and restarted");
    }
}

size_t supervisor_live(const struct supervisor *supervisor)
{
    size_t n = 0;

    for (const struct live_case *c = supervisor->cases; c; c = c->next)
        n++;
    return n;
}

static json_t *add_case(json_t *array, const struct case_id *id)
{
    json_t *one = json_pack("{s:s, s:I, s:I}", "run", id->run, "case",
                            (json_int_t)id->number, "attempt", (json_int_t)id->attempt);

    json_array_append_new(array, one);
    return one;
}

json_t *supervisor_cases(const struct supervisor *supervisor)
{
    uint64_t acked = outbox_acked(supervisor->params.outbox);
    json_t *array = json_array();

    for (const struct live_case *c = supervisor->cases; c; c = c->next)
        add_case(array, &c->id);
    for (size_t i = 0; i < REMEMBERED; i++) {
        const struct ended_case *ended = &supervisor->ended[i];
        json_t *one;

        if (ended->gone_seq <= acked || find_live(supervisor, &ended->id))
            continue;
        one = add_case(array, &ended->id);
        if (ended->gone_seq != GONE_PENDING)
            json_object_set_new(one, "gone", json_integer((json_int_t)ended->gone_seq));
    }
    return array;
}

void supervisor_pause(struct supervisor *supervisor, bool is_paused)
{
    supervisor->is_paused = is_paused;
    for (struct live_case *c = supervisor->cases; c; c = c->next)
        case_process_pause(c->process, is_paused);
}

void supervisor_forget(struct supervisor *supervisor)
{
    memset(supervisor->ended, 0, sizeof(supervisor->ended));
}

void supervisor_set_address(struct supervisor *supervisor, const char *address)
{
    env_list_set(&supervisor->base, "RINGBENCH_ADDRESS", address);
}

struct supervisor *supervisor_create(const struct supervisor_params *params)
{
    struct supervisor *supervisor =
        memory_zeroed(1, sizeof(*supervisor), "the supervisor");

    env_list_copy(&supervisor->base, params->environment->items);
    env_list_set(&supervisor->base, "RINGBENCH_NODE", params->node);
    supervisor->params = *params;
    return supervisor;
}

void supervisor_destroy(struct supervisor *supervisor)
{
    if (!supervisor)
        return;
    while (supervisor->cases)
        destroy_case(supervisor->cases);
    env_list_release(&supervisor->base);
    free(supervisor);
}
