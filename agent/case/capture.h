/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - keeps the beginning and the end of a worker's output stream
 *
 * The beginning is sent as it arrives. The end is kept until the stream ends. Bytes in
 * the middle are only counted. */
#ifndef RINGBENCH_AGENT_CASE_CAPTURE_H
#define RINGBENCH_AGENT_CASE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

#define CAPTURE_HEAD_MAX (384 * 1024)
#define CAPTURE_TAIL_MAX (128 * 1024)

struct capture {
    struct buf pending; /* complete lines to send */
    struct buf tail;    /* complete lines, up to 2 * CAPTURE_TAIL_MAX bytes */
    size_t head_left;
    uint64_t cut_bytes; /* dropped so far */
    bool is_cut;        /* the beginning is full, so lines go to `tail` */
};

void capture_init(struct capture *capture);
void capture_release(struct capture *capture);

/* `line` must not contain a newline. */
void capture_add(struct capture *capture, const char *line, size_t len);

/* Call when the stream has ended. The kept end becomes pending, after a line with the
 * number of missing bytes. `stream` is the stream's name in that line. */
void capture_end(struct capture *capture, const char *stream);

#endif
