/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - what a worker says of itself (docs/development/worker-contract.md), as new
 * objects; NULL when memory is out */
#ifndef RINGBENCH_WORKER_BENCH_SAYS_H
#define RINGBENCH_WORKER_BENCH_SAYS_H

#include <jansson.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "common/base/error.h"

/* Of --probe. */
json_t *says_probe(const struct backend *backend);

/* Whether it can do what the case asks for; ERROR_UNSUPPORTED names what it can't. */
int says_supported(const struct backend *backend, const struct case_file *file,
                   struct error *err);

/* Of the event `hello`, `phase` (more: further keys, taken over, or NULL) and a `done`
 * that is a failure (peer: the rank that is to blame, or -1). */
json_t *says_hello(const struct backend *backend, long pid, const char *host,
                   const char *hostid);
json_t *says_phase(const char *phase, double seconds, json_t *more);
json_t *says_failure(const char *code, const char *text, int peer);

/* Of an address of rank `peer` that cannot be reached (attempt.h). */
json_t *says_unreached(const char *over, int peer, const struct attempt_place *place,
                       const char *via, const char *reason);

/* The further keys of `connected`. */
json_t *says_connected(const struct backend *backend, struct backend_comm *comm);

#endif
