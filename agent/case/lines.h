/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - splits a stream of bytes into lines of limited length */
#ifndef RINGBENCH_AGENT_CASE_LINES_H
#define RINGBENCH_AGENT_CASE_LINES_H

#include <stddef.h>

#include "common/base/buf.h"

enum lines_overlong {
    LINES_CUT, /* deliver an overlong line in pieces of the maximum size */
    LINES_DROP /* drop an overlong line and report its length */
};

struct lines {
    struct buf partial; /* an incomplete line */
    size_t max;
    size_t dropped; /* dropped bytes of the current line */
    enum lines_overlong overlong;
};

/* Called per line, without its newline. The text is borrowed and not terminated. For a
 * dropped line, `line` is NULL and `dropped` is its length. */
typedef void (*lines_fn)(void *arg, const char *line, size_t len, size_t dropped);

void lines_init(struct lines *lines, size_t max, enum lines_overlong overlong);
void lines_release(struct lines *lines);

void lines_feed(struct lines *lines, const char *data, size_t len, lines_fn fn,
                void *arg);

/* Pass the last line to fn, even if the line has no newline. */
void lines_end(struct lines *lines, lines_fn fn, void *arg);

#endif
