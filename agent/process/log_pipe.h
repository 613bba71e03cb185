/* log_pipe.h - a named pipe that the processes of a rank write NCCL's log to, so that
 * it stays out of what they print
 *
 * NCCL opens NCCL_DEBUG_FILE in each process and writes a line at a time, of up to 1024
 * bytes: less than what a pipe takes at once, so lines of several processes don't mix. */
#ifndef RINGBENCH_AGENT_PROCESS_LOG_PIPE_H
#define RINGBENCH_AGENT_PROCESS_LOG_PIPE_H

#include <uv.h>

#include "agent/process/lines.h"
#include "common/base/error.h"

struct log_pipe;

struct log_pipe_handlers {
    lines_fn on_line;
    /* Nothing has come for a while, after something did. */
    void (*on_quiet)(void *arg);
    void *arg;
};

/* Make it, and read. What is at the path is replaced. NULL with the reason. */
struct log_pipe *log_pipe_open(uv_loop_t *loop, const char *path,
                               const struct log_pipe_handlers *handlers,
                               struct error *err);

/* Those who write have ended: take what is in it, and remove it. */
void log_pipe_end(struct log_pipe *log);

/* Remove and free it; no handler is called any more. NULL is fine. */
void log_pipe_destroy(struct log_pipe *log);

#endif
