/* refusals.h - why nodes don't count for a run, each reason once however many have it */
#ifndef RINGBENCH_SERVER_NODES_REFUSALS_H
#define RINGBENCH_SERVER_NODES_REFUSALS_H

#include "common/base/buf.h"

#define REFUSALS_MAX 8

/* Zero it but for the text, which is to be initialised and released. */
struct refusals {
    struct buf text; /* "; NAME: why" of each; what refuses a node appends here */
    struct {
        const char *node; /* the first with that reason, borrowed */
        size_t at;        /* where it stands in the text */
        size_t more;      /* nodes besides it */
    } items[REFUSALS_MAX];
    size_t n;
};

/* What was appended behind `before` is of this node: it goes again where an earlier one
 * has the same. */
void refusals_fold(struct refusals *refusals, const char *node, size_t before);

void refusals_clear(struct refusals *refusals);

/* "; NAME and 7 more: why; ..." */
void refusals_append(const struct refusals *refusals, struct buf *out);

#endif
