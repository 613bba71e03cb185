/* transfer.h - whose link is slow, by what each rank takes to exchange with its two
 * neighbours. All ranks need all in most collectives, and take the same time whoever is
 * slow; in sendrecv, each call begun behind a barrier, a rank waits for no more than the
 * one before it and the one behind it. Judged are ranks that receive from another node.
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSFER_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSFER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

/* Of how many rows the figures of so many ranks are kept: of enough for a verdict, and of
 * as many more as some hundred kilobytes hold. */
#define TRANSFER_ROWS_MIN 32
#define TRANSFER_ROWS_MAX 512
size_t transfer_rows(size_t ranks);

/* The node of a rank, or NULL. */
typedef const char *rank_node(const void *arg, int rank);

struct transfer;

/* NULL when memory is out; destroy takes NULL. */
struct transfer *transfer_create(size_t ranks, rank_node *node_of, const void *arg);
void transfer_destroy(struct transfer *transfer);

/* A row of sendrecv of all ranks, with "times_us", "late_us" and "late_error_us". */
void transfer_add(struct transfer *transfer, const json_t *row);

/* Whether some ranks' own part is slow: then the sentence is appended to *out and
 * *evidence is {"nodes","ranks","times","rows","slow"} of it, a new object. nodes: the
 * one whose link it is, the two whose link it is, or none: that cannot be told. */
bool transfer_find(const struct transfer *transfer, struct buf *out, json_t **evidence);

#endif
