/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.h - runs this node's part of cases, each in its own ringbench-case */
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

/* The reason why NCCL is unavailable. The argument is from case_table_lingers. */
#define SUPERVISOR_HELD                                                                  \
    "a process of an earlier case was killed but has not exited and may hold a GPU: %s"

struct supervisor_params {
    struct case_table *processes;
    struct outbox *outbox;
    const char *worker_dir; /* folder of ringbench-worker-BACKEND */
    const char *case_dir;   /* directory for case files */
    const char *node;
    const struct env_list *environment;  /* variables that workers inherit */
    const struct option_list *consented; /* variables of ENV_POLICY_CONSENT */
    const struct program_list *programs;
    const struct option_list *nccl_libs; /* libraries that a run may name */
    const struct binder *binder;
    const json_t *inventory; /* lists the backends' devices before the first case */
    /* A case has ended here; seq is the number of its event `gone`. */
    void (*on_gone)(void *arg, const struct case_id *id, uint64_t seq);
    void *arg;
};

/* The supervisor borrows everything in params until it is destroyed. */
struct supervisor *supervisor_create(const struct supervisor_params *params);

/* Kill workers that still run. Accepts NULL. */
void supervisor_destroy(struct supervisor *supervisor);

/* The address at which other nodes reach this node. */
void supervisor_set_address(struct supervisor *supervisor, const char *address);

/* Execute a start command. A failure is sent to the server as an event. Ignores a case
 * and attempt that is already known. */
void supervisor_start(struct supervisor *supervisor, const struct command *command);

/* Send SIGTERM to the workers, and SIGKILL 5 s later. If with_stacks is set, collect
 * their stacks first. For a case without workers here, send `gone`. */
void supervisor_stop(struct supervisor *supervisor, const struct case_id *id,
                     bool with_stacks);
void supervisor_stop_all(struct supervisor *supervisor);

/* Adopt a case of an earlier agent that was killed here. The case counts as live until
 * supervisor_end_adopted sends `gone`, after the case's events in the spool. */
void supervisor_adopt(struct supervisor *supervisor, const struct case_id *id);
void supervisor_end_adopted(struct supervisor *supervisor);

size_t supervisor_live(const struct supervisor *supervisor);

/* A new array for the registration: the cases with workers, and the cases whose end the
 * server has not acknowledged. */
json_t *supervisor_cases(const struct supervisor *supervisor);

/* Pause or resume reading events of cases. */
void supervisor_pause(struct supervisor *supervisor, bool is_paused);

/* Forget the ended cases, because the server has lost them. */
void supervisor_forget(struct supervisor *supervisor);

#endif
