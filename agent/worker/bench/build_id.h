/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.h - all workers of a case are of one build (see common/base/version.h) */
#ifndef RINGBENCH_WORKER_BENCH_BUILD_ID_H
#define RINGBENCH_WORKER_BENCH_BUILD_ID_H

#include "agent/worker/group/rendezvous_client.h"
#include "common/base/error.h"

/* The first rank of the case leaves its build in the store, under ringbench/build; -1
 * with both when this one is of another. */
int build_id_agree(struct rendezvous_client *store, int rank, const char *node,
                   struct error *err);

/* The words for two that are not. -1. */
int build_id_differ(const char *first, const char *first_node, const char *build,
                    const char *node, struct error *err);

#endif
