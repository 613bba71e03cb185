/* build_id.h - which sources this program was made from
 *
 * Workers of a case share memory and wire formats that have no versions of their own, so
 * all must be of one build. */
#ifndef RINGBENCH_WORKER_BUILD_ID_H
#define RINGBENCH_WORKER_BUILD_ID_H

#include "agent/worker/store_client.h"
#include "common/error.h"

/* A hash of the sources: 12 hexadecimal digits. */
const char *build_id(void);

/* The first rank of the case leaves its build in the store, under ringbench/build; -1
 * with both when this one is of another. */
int build_id_agree(struct store_client *store, int rank, const char *node,
                   struct error *err);

#endif
