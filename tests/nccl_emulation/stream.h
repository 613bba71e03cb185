/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - a stream of the emulated CUDA runtime: a thread that runs work in order.
 * During a capture, work is recorded instead. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H
#define RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H

#include "agent/worker/nccl/cuda_abi.h"

/* A kind of work. copy: duplicate an argument whose work has not run yet; NULL if out of
 * memory. */
struct emulated_work {
    void (*run)(void *arg);
    void *(*copy)(const void *arg);
    void (*release)(void *arg);
};

/* In the calls below NULL is the default stream, which is never destroyed. */
int emulated_stream_create(cuda_stream *out);
void emulated_stream_destroy(cuda_stream stream);

/* Enqueue the work, or record it during a capture. Waits while EMULATED_QUEUE_MAX
 * operations are enqueued, as CUDA does. Steals arg, also on failure. */
#define EMULATED_QUEUE_MAX 1024
int emulated_stream_enqueue(cuda_stream stream, const struct emulated_work *work,
                            void *arg);

/* CUDA_SUCCESS_CODE when idle, CUDA_ERROR_NOT_READY_CODE, or the stream's permanent
 * error. As in CUDA, a query invalidates a capture. */
int emulated_stream_state(cuda_stream stream);

/* The device of a stream, and of this thread: device 0 until it sets another. */
int emulated_stream_device(cuda_stream stream);
int emulated_device(void);

/* Number of instantiated graphs. */
int emulated_graphs(void);
/* Number of unfinished operations on all streams. */
int emulated_begun(void);

/* Record a call that is forbidden during a capture: it invalidates the capture. */
int emulated_capture_forbids(void);

#endif
