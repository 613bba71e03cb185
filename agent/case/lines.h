/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - cut a stream of bytes into lines, with a limit on their length */
#ifndef RINGBENCH_AGENT_CASE_LINES_H
#define RINGBENCH_AGENT_CASE_LINES_H

#include <stddef.h>

#include "common/base/buf.h"

enum lines_overlong {
    LINES_CUT, /* deliver a line above the limit in pieces of that size */
    LINES_DROP /* leave it out and say how long it was */
};

struct lines {
    struct buf partial; /* a line whose end has not come yet */
    size_t max;
    size_t dropped; /* bytes of the present line that were thrown away */
    enum lines_overlong overlong;
};

/* Called per line, without its newline; the text is borrowed and not terminated. For a
 * dropped line `line` is NULL and `dropped` its length. */
typedef void (*lines_fn)(void *arg, const char *line, size_t len, size_t dropped);

void lines_init(struct lines *lines, size_t max, enum lines_overlong overlong);
void lines_release(struct lines *lines);

void lines_feed(struct lines *lines, const char *data, size_t len, lines_fn fn,
                void *arg);

/* The stream has ended: deliver what has no newline. */
void lines_end(struct lines *lines, lines_fn fn, void *arg);

#endif
