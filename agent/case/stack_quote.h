/* SPDX-License-Identifier: Apache-2.0 */
/* stack_quote.h - extracts the part of a worker's stacks that a failure reason quotes
 *
 * A worker prints its stacks to stderr on request, in the format of
 * agent/worker/base/stacks.h. The quote lists the functions of the first thread, from the
 * innermost outwards. */
#ifndef RINGBENCH_AGENT_CASE_STACK_QUOTE_H
#define RINGBENCH_AGENT_CASE_STACK_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#define STACK_QUOTE_NAMES 6

struct stack_quote {
    size_t threads, names;
    bool has_ended;
    char last[64];  /* the last name added to `text` */
    char text[400]; /* "read <- libnccl.so.2 <- ncclCommInitRank"; printable ASCII */
};

/* Read a line of stderr. Returns false if it is not part of a stack. The caller zeroes
 * *quote before the first line. */
bool stack_quote_line(struct stack_quote *quote, const char *line, size_t len);

#endif
