/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - a stream of the emulated CUDA runtime: a thread that does one thing after
 * the other, or records it while it is captured */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H
#define RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H

#include "agent/worker/nccl/cuda_abi.h"

/* A kind of work. copy: another argument for the same work, not done yet, or NULL without
 * memory; only of arguments whose work has not been done. */
struct emulated_work {
    void (*run)(void *arg);
    void *(*copy)(const void *arg);
    void (*release)(void *arg);
};

/* NULL is the default stream in the calls below; it is never destroyed. */
int emulated_stream_create(cuda_stream *out);
void emulated_stream_destroy(cuda_stream stream);

/* Do the work after all that was enqueued before, or record it. Takes arg, also when it
 * fails. */
int emulated_stream_enqueue(cuda_stream stream, const struct emulated_work *work,
                            void *arg);

/* CUDA_SUCCESS_CODE when idle, CUDA_ERROR_NOT_READY_CODE, or the error that stays. To ask
 * spoils a capture, as with CUDA. */
int emulated_stream_state(cuda_stream stream);

/* The device that a stream was made on, and this thread's: the first, until it sets one.
 */
int emulated_stream_device(cuda_stream stream);
int emulated_device(void);

/* Graphs that can be launched. */
int emulated_graphs(void);
/* Operations on streams that have not ended. */
int emulated_begun(void);

/* A call that a thread must not make while it captures: spoils the capture. */
int emulated_capture_forbids(void);

#endif
