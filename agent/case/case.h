/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - one case on this node: its ranks from their start to their end */
#ifndef RINGBENCH_AGENT_CASE_CASE_H
#define RINGBENCH_AGENT_CASE_CASE_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/case/event_stream.h"
#include "agent/case/process_tree.h"

struct running_case;

/* A case that has not begun. The tree ends by case_on_tree_end, with the case as its
 * argument. All is there until this process ends. */
struct running_case *case_create(uv_loop_t *loop, struct event_stream *out);
void case_on_tree_end(void *arg, const char *left);

/* Begin with a document (launch.h), which is taken. Errors are told as event `refused`.
 */
void case_begin(struct running_case *c, struct process_tree *tree, json_t *document);

/* SIGTERM, and SIGKILL 5 s later; before that, if asked for, the ranks' stacks. */
void case_stop(struct running_case *c, bool wants_stacks);

/* Kill all: nobody wants to know any more. The stream is broken. */
void case_abandon(struct running_case *c, struct process_tree *tree);

/* Stop and start reading from the ranks. */
void case_pause(struct running_case *c, bool is_paused);

#endif
