/* SPDX-License-Identifier: Apache-2.0 */
/* log_pipe.h - a named pipe that the processes of a rank write NCCL's log to, so that
 * it stays out of what they print
 *
 * NCCL opens NCCL_DEBUG_FILE in each process and writes a line at a time, of up to 1024
 * bytes: less than what a pipe takes at once, so lines of several processes don't mix. */
#ifndef RINGBENCH_AGENT_CASE_LOG_PIPE_H
#define RINGBENCH_AGENT_CASE_LOG_PIPE_H

#include <uv.h>

#include "agent/case/lines.h"
#include "common/base/error.h"

struct log_pipe;

struct log_pipe_handlers {
    lines_fn on_line;
    /* Nothing has come for quiet_ms, after something did. */
    void (*on_quiet)(void *arg);
    uint64_t quiet_ms;
    void *arg;
};

/* Make it, and read. What is at the path is replaced. Who opens it to write never waits,
 * and who writes waits only while it is full, until the loop's next turn takes it all.
 * NULL with the reason. */
struct log_pipe *log_pipe_open(uv_loop_t *loop, const char *path,
                               const struct log_pipe_handlers *handlers,
                               struct error *err);

/* Those who write have ended: take what is in it, and remove it. Nobody is heard any
 * more; who is left and writes on waits once it is full. */
void log_pipe_end(struct log_pipe *log);

/* Remove and free it; no handler is called any more, and who still writes gets SIGPIPE.
 * NULL is fine. */
void log_pipe_destroy(struct log_pipe *log);

#endif
