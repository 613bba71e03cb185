/* SPDX-License-Identifier: Apache-2.0 */
/* case_process.h - starts and watches ringbench-case (agent/case), one process per case
 *
 * The agent starts the process, writes the document to it and reads its events in the
 * loop. The agent never blocks while it waits for the process. ringbench-case kills its
 * processes when the agent dies. If ringbench-case is killed, the agent kills its
 * orphans. */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_PROCESS_H
#define RINGBENCH_AGENT_PROCESS_CASE_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "agent/case/event_stream.h"
#include "common/base/error.h"

struct case_table; /* all case processes of this agent */
struct case_process;

/* Create the table and make this process a subreaper. ringbench-case must be in the
 * folder of this program. Case processes hold a lock on a file in `dir`, so that a later
 * table can detect whether these processes have ended. If `dir` is NULL, there is no
 * lock. Only one table at a time may use `dir`. */
struct case_table *case_table_create(uv_loop_t *loop, const char *dir, struct error *err);

/* True if all case processes of earlier tables on the directory have ended. Such
 * processes may outlive a killed agent. Do not start a case while this is false. */
bool case_table_is_alone(struct case_table *table);

/* Destroy the table. The caller has destroyed every case process. Accepts NULL. */
void case_table_destroy(struct case_table *table);

/* Describe processes of ended cases that were killed but have not exited. They keep their
 * resources, such as GPU memory. Returns false with "" if there are none. */
bool case_table_lingers(const struct case_table *table, char *text, size_t size);

/* For tests: set the prefix of /proc for case_table_lingers (borrowed), and the time that
 * a case process has to end after a stop. */
void case_table_set_root(struct case_table *table, const char *root);
void case_table_limit(struct case_table *table, uint64_t end_ms);

/* "cgroup" or "subreaper". */
const char *case_table_containment(const struct case_table *table);

struct case_end {
    const char *fault; /* why ringbench-case failed; NULL: no failure */
    const char *left;  /* processes that were killed but have not exited; "": none */
};

struct case_handlers {
    /* Called for all kinds but EVENT_HELLO and EVENT_LEFT. The text is borrowed and not
     * terminated. */
    void (*on_event)(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len);
    /* The case has ended. No handler is called afterwards; destroy the case process. */
    void (*on_end)(void *arg, const struct case_end *end);
    void *arg;
};

/* Start ringbench-case with a borrowed document (agent/case/launch.h). Returns NULL with
 * the reason on failure. */
struct case_process *case_process_start(struct case_table *table, json_t *document,
                                        const struct case_handlers *handlers,
                                        struct error *err);

/* with_stacks: collect the ranks' stacks first. */
void case_process_stop(struct case_process *process, bool with_stacks);

/* Pause or resume reading events. */
void case_process_pause(struct case_process *process, bool is_paused);

/* Kill the processes that still run. No handler is called afterwards. Accepts NULL. */
void case_process_destroy(struct case_process *process);

#endif
