/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.h - refuse a case whose workers come from different builds
 * (common/base/version.h) */
#ifndef RINGBENCH_WORKER_BENCH_BUILD_ID_H
#define RINGBENCH_WORKER_BENCH_BUILD_ID_H

#include "agent/worker/group/rendezvous_client.h"
#include "common/base/error.h"

/* The first rank writes its build to the store under ringbench/build. Every other rank
 * compares its own build with that value. If the two differ, returns -1 with
 * ERROR_CONFLICT, which names both. */
int build_id_agree(struct rendezvous_client *store, int rank, const char *node,
                   struct error *err);

/* Set the error for two different builds. Returns -1. */
int build_id_differ(const char *first, const char *first_node, const char *build,
                    const char *node, struct error *err);

#endif
