/* stream.h - a stream of the emulated CUDA runtime: a thread that does one thing after
 * the other */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H
#define RINGBENCH_TESTS_NCCL_EMULATION_STREAM_H

#include "agent/worker/nccl/cuda_abi.h"

typedef void emulated_work_fn(void *arg);

/* NULL is the default stream in the calls below; it is never destroyed. */
int emulated_stream_create(cuda_stream *out);
void emulated_stream_destroy(cuda_stream stream);

/* Do work(arg) after all that was enqueued before; arg is freed afterwards. */
int emulated_stream_enqueue(cuda_stream stream, emulated_work_fn *work, void *arg);

/* CUDA_SUCCESS_CODE when idle, CUDA_ERROR_NOT_READY_CODE, or the error that stays. */
int emulated_stream_state(cuda_stream stream);

#endif
