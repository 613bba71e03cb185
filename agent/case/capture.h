/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - what one output stream of one worker said: its beginning goes out as it
 * comes, of the rest the end is kept, and what lies between is counted */
#ifndef RINGBENCH_AGENT_CASE_CAPTURE_H
#define RINGBENCH_AGENT_CASE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

#define CAPTURE_HEAD_MAX (384 * 1024)
#define CAPTURE_TAIL_MAX (128 * 1024)

struct capture {
    struct buf pending; /* whole lines that are to be sent */
    struct buf tail;    /* whole lines, up to twice what is kept */
    size_t head_left;
    uint64_t cut_bytes; /* dropped so far */
    bool is_cut;        /* the head is full: lines go to the tail */
};

void capture_init(struct capture *capture);
void capture_release(struct capture *capture);

/* Add one line, without its newline. */
void capture_add(struct capture *capture, const char *line, size_t len);

/* The stream has ended: what is kept of the end becomes pending, after a line that says
 * how many bytes are missing. `stream` is its name in that line. */
void capture_end(struct capture *capture, const char *stream);

#endif
