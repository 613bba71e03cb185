/* control.h - what the control series measures, and what a run can choose of it
 *
 * Three questions that a program's author has about small operations: what a barrier
 * costs, what gathering a small object costs against reducing one element, and what one
 * large reduction costs against many small ones. Each answer is a figure, a result with a
 * name and a unit as a program's figures are. */
#ifndef RINGBENCH_COMMON_SPEC_CONTROL_H
#define RINGBENCH_COMMON_SPEC_CONTROL_H

#include <stddef.h>
#include <stdint.h>

enum control_kind {
    CONTROL_BARRIER,
    CONTROL_GATHER_OBJECT,
    CONTROL_CHUNKS,
    CONTROL_COUNT
};

#define CONTROL_FIGURES_MAX 3 /* of one kind */
#define CONTROL_ALIGNMENT 256 /* of what lies in one buffer, side by side */
#define CONTROL_ITERS_MAX 100000
#define CONTROL_PIECES_MAX 100000
#define CONTROL_OBJECT_BYTES_MAX 1048576

struct control_plan {
    unsigned kinds;    /* bit mask; 0: nothing is to be measured */
    uint64_t bytes;    /* chunks: of the large reduction, as asked */
    long pieces;       /* chunks: how many small ones */
    long object_bytes; /* gather_object: of the text in each rank's object */
    long iters;        /* timed repetitions of a barrier and of a gathering */
};

/* Names as they stand in JSON; a lookup returns -1 for an unknown name. */
const char *control_name(enum control_kind kind);
int control_lookup(const char *name);

/* The figures of one kind, in their order; NULL beyond the last one. */
const char *control_figure(enum control_kind kind, size_t i);
/* Of all that the plan has. */
size_t control_figures(const struct control_plan *plan);

/* Bytes of the one large reduction and of the pieces together: what was asked, rounded
 * down to whole float32s in each piece. */
uint64_t control_chunk_bytes(const struct control_plan *plan);
/* What an object has at most as text. */
uint64_t control_object_most(const struct control_plan *plan);
/* Of the lengths of all n ranks' objects, up to where the objects begin. */
uint64_t control_lengths_bytes(int n);
/* What a worker's send and receive buffer must each hold for a series of n ranks. */
uint64_t control_bytes(const struct control_plan *plan, enum control_kind kind, int n);
/* The most that any series of the plan needs which fits into `limit`; 0: there is none.
 */
uint64_t control_bytes_most(const struct control_plan *plan, int n, uint64_t limit);

#endif
