/* SPDX-License-Identifier: Apache-2.0 */
/* case_process.h - the agent's end of ringbench-case (agent/case), one process per case
 *
 * The agent starts it, writes the document to it, and never waits for it: its answers are
 * read in the loop. It kills its processes when this agent dies. If it is killed itself,
 * this agent kills the processes that it leaves. */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_PROCESS_H
#define RINGBENCH_AGENT_PROCESS_CASE_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "agent/case/event_stream.h"
#include "common/base/error.h"

struct case_table; /* all case processes of this agent, which it makes a subreaper */
struct case_process;

/* The program ringbench-case is in the folder of this program. Case processes lock a file
 * in `dir`, so that a later table sees whether they have ended; NULL: they don't. Only
 * one table at a time may use `dir`. */
struct case_table *case_table_create(uv_loop_t *loop, const char *dir, struct error *err);

/* Whether all case processes of earlier tables on the directory have ended, which may
 * outlive an agent that was killed. Start no case before that. */
bool case_table_is_alone(struct case_table *table);

/* Every case process must have been destroyed. NULL is fine. */
void case_table_destroy(struct case_table *table);

/* Name the processes that were killed and did not die before their case process gave up.
 * They keep what they had, such as memory of a GPU. False and "": there are none. */
bool case_table_lingers(const struct case_table *table, char *text, size_t size);

/* For tests: where /proc is looked for then (borrowed); and how long a case process has
 * for its end, once it is asked, before it is killed. */
void case_table_look_in(struct case_table *table, const char *root);
void case_table_limit(struct case_table *table, uint64_t end_ms);

/* What holds a case's processes together here: "cgroup", or "subreaper" alone. */
const char *case_table_containment(const struct case_table *table);

struct case_end {
    const char *fault; /* why its process ended before the case did; NULL: it did not */
    const char *left;  /* what was killed and does not die; "": nothing */
};

struct case_handlers {
    /* Not EVENT_HELLO and EVENT_LEFT. The text is borrowed, and not terminated. */
    void (*on_event)(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len);
    /* Nothing of the case is left, and nothing is called any more: destroy it. */
    void (*on_end)(void *arg, const struct case_end *end);
    void *arg;
};

/* Start one with a document (agent/case/launch.h; borrowed). NULL with the reason. */
struct case_process *case_process_start(struct case_table *table, json_t *document,
                                        const struct case_handlers *handlers,
                                        struct error *err);

/* Ask for the end of the case, and for the ranks' stacks before that. */
void case_process_stop(struct case_process *process, bool wants_stacks);

/* Stop and start reading what it answers. */
void case_process_pause(struct case_process *process, bool is_paused);

/* Kills what still runs; no handler is called any more. NULL is fine. */
void case_process_destroy(struct case_process *process);

#endif
