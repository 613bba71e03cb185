/* SPDX-License-Identifier: Apache-2.0 */
/* stack_quote.h - of the stacks that a worker prints when it is asked for them (stderr;
 * agent/worker/base/stacks.h has the lines), what a reason has room for: the functions of
 * the first thread, which says most, from the innermost outwards */
#ifndef RINGBENCH_AGENT_CASE_STACK_QUOTE_H
#define RINGBENCH_AGENT_CASE_STACK_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#define STACK_QUOTE_NAMES 6

struct stack_quote {
    size_t threads, names;
    bool has_ended;
    char last[64];  /* the latest name */
    char text[400]; /* "read <- libnccl.so.2 <- ncclCommInitRank"; printable ASCII */
};

/* Take a line of stderr; false: it is none of a stack. All zero at first. */
bool stack_quote_line(struct stack_quote *quote, const char *line, size_t len);

#endif
