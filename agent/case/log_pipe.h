/* SPDX-License-Identifier: Apache-2.0 */
/* log_pipe.h - a named pipe that keeps the NCCL log of a rank's processes out of their
 * output
 *
 * NCCL opens NCCL_DEBUG_FILE in each process and writes one line at a time, of up to 1024
 * bytes. A line is shorter than PIPE_BUF, so lines of several processes do not mix. */
#ifndef RINGBENCH_AGENT_CASE_LOG_PIPE_H
#define RINGBENCH_AGENT_CASE_LOG_PIPE_H

#include <uv.h>

#include "agent/case/lines.h"
#include "common/base/error.h"

struct log_pipe;

struct log_pipe_handlers {
    lines_fn on_line;
    /* no line has arrived for quiet_ms */
    void (*on_quiet)(void *arg);
    uint64_t quiet_ms;
    void *arg;
};

/* Create the pipe, replacing a file at the path, and read from it. A writer never blocks
 * in open(), and in write() only until the loop reads the full pipe. Returns NULL with
 * the reason on failure. */
struct log_pipe *log_pipe_open(uv_loop_t *loop, const char *path,
                               const struct log_pipe_handlers *handlers,
                               struct error *err);

/* The rank has ended: read the rest of the pipe and remove the path. Later output is not
 * read, so a remaining writer blocks once the pipe is full. */
void log_pipe_end(struct log_pipe *log);

/* Destroy the pipe. No handler is called afterwards, and a remaining writer gets SIGPIPE.
 * Accepts NULL. */
void log_pipe_destroy(struct log_pipe *log);

#endif
