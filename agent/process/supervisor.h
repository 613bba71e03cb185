/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.h - the cases that this node takes part in, each with a process of its own
 */
#ifndef RINGBENCH_AGENT_PROCESS_SUPERVISOR_H
#define RINGBENCH_AGENT_PROCESS_SUPERVISOR_H

#include <jansson.h>
#include <stddef.h>

#include "agent/bind/binder.h"
#include "agent/config/env_list.h"
#include "agent/link/command.h"
#include "agent/link/outbox.h"
#include "agent/process/case_process.h"
#include "agent/process/program_list.h"
#include "common/base/error.h"
#include "common/base/options.h"

struct supervisor;

/* Why NCCL can't be used; with what lingers (case_process.h). */
#define SUPERVISOR_HELD "killed, but still there: %s; it may hold its GPU"

struct supervisor_params {
    struct case_table *processes;
    struct outbox *outbox;
    const char *worker_dir; /* where ringbench-worker-BACKEND is */
    const char *case_dir;   /* where case files go */
    const char *node;
    const struct env_list *environment;  /* what workers inherit */
    const struct option_list *consented; /* variables of ENV_POLICY_CONSENT */
    const struct program_list *programs; /* offered besides workers */
    const struct option_list *nccl_libs; /* that a run may name */
    const struct binder *binder;
    const json_t *inventory; /* has the backends' devices when cases come */
    void (*on_gone)(void *arg, const struct case_id *id,
                    uint64_t seq); /* event's number */
    void *arg;
};

/* Everything in params is borrowed for the supervisor's life. */
struct supervisor *supervisor_create(const struct supervisor_params *params);

/* Kills the workers that still run. NULL is fine. */
void supervisor_destroy(struct supervisor *supervisor);

/* The address under which other nodes reach this one. */
void supervisor_set_address(struct supervisor *supervisor, const char *address);

/* Carry out a start command; what goes wrong is told to the server as an event. A case
 * and attempt that is known already is left alone. */
void supervisor_start(struct supervisor *supervisor, const struct command *command);

/* SIGTERM, and SIGKILL 5 s later; before that, if asked for, the workers' stacks. A case
 * without workers here is answered with `gone`. */
void supervisor_stop(struct supervisor *supervisor, const struct case_id *id,
                     bool wants_stacks);
void supervisor_stop_all(struct supervisor *supervisor);

/* A case in which an earlier agent on this node was killed: it counts as ours until
 * supervisor_bury says that it is gone, behind what the spool holds of it. */
void supervisor_adopt(struct supervisor *supervisor, const struct case_id *id);
void supervisor_bury(struct supervisor *supervisor);

/* Cases with workers. */
size_t supervisor_live(const struct supervisor *supervisor);

/* A new array of the cases that the server should count as ours: those with workers, and
 * those whose end it has not acknowledged. */
json_t *supervisor_cases(const struct supervisor *supervisor);

/* Stop and start reading what cases tell. */
void supervisor_pause(struct supervisor *supervisor, bool is_paused);

/* Forget the cases that have ended: the server that knew them is no more. */
void supervisor_forget(struct supervisor *supervisor);

#endif
