/* control_ops.h - what the control series time: one repetition of each
 *
 * They work in the bench's buffers. Data that an operation sends lies in two places by
 * turns: who has gone on may write the next while a slow peer still reads the last. */
#ifndef RINGBENCH_WORKER_BENCH_CONTROL_OPS_H
#define RINGBENCH_WORKER_BENCH_CONTROL_OPS_H

#include "agent/worker/bench/bench_state.h"

struct control_ops {
    struct bench *bench;
    size_t turn; /* of the repetitions */
    /* Of gather_object alone. */
    char *filler;       /* the text in this rank's object */
    size_t object_most; /* what an object has at most as JSON text */
    int64_t *lengths;   /* of the objects, by rank */
    char *texts;        /* of all objects, object_most each */
};

int control_ops_init(struct control_ops *ops, struct bench *bench, enum control_kind kind,
                     struct error *err);
void control_ops_release(struct control_ops *ops);

typedef int control_op(struct control_ops *ops, struct error *err);

/* All ranks have come: the backend's own barrier, or, where it has none, as PyTorch does
 * it with NCCL, an all-reduce of one element. */
control_op control_ops_barrier;
/* Has any rank raised its flag? As PyTorch's all_gather_object: serialise, exchange the
 * lengths, exchange the bytes, padded to the longest, and read them back. */
control_op control_ops_gather_object;
/* The same question, by an all-reduce of one element. */
control_op control_ops_reduce_flag;
/* One all-reduce, and as many bytes in pieces. */
control_op control_ops_one_large;
control_op control_ops_many_small;

#endif
