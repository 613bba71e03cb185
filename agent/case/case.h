/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - runs the ranks of one case on this node */
#ifndef RINGBENCH_AGENT_CASE_CASE_H
#define RINGBENCH_AGENT_CASE_CASE_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/case/event_stream.h"
#include "agent/case/process_tree.h"

struct running_case;

/* Create a case that has not started. The caller must pass case_on_tree_end to its
 * process tree as the end handler, with the case as argument. The case is never freed. */
struct running_case *case_create(uv_loop_t *loop, struct event_stream *out);
void case_on_tree_end(void *arg, const char *left);

/* Start the ranks of a document (launch.h). Takes ownership of the document. An error is
 * sent as event `refused`. */
void case_begin(struct running_case *c, struct process_tree *tree, json_t *document);

/* Send SIGTERM, and SIGKILL 5 s later. If with_stacks is set, collect the ranks' stacks
 * first. */
void case_stop(struct running_case *c, bool with_stacks);

/* Kill all processes, because the agent is gone and the stream is broken. */
void case_abandon(struct running_case *c, struct process_tree *tree);

/* Pause or resume reading from the ranks. */
void case_pause(struct running_case *c, bool is_paused);

#endif
