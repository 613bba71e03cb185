/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - build a worker's events about itself (docs/development/worker-contract.md)
 *
 * Events are new objects, or NULL if out of memory. */
#ifndef RINGBENCH_WORKER_BENCH_DESCRIBE_H
#define RINGBENCH_WORKER_BENCH_DESCRIBE_H

#include <jansson.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "common/base/error.h"

/* The output of --probe. */
json_t *describe_probe(const struct backend *backend);

/* 0 if the backend supports all collectives, types and operations of the case. Else -1
 * with ERROR_UNSUPPORTED, which names the first unsupported one. */
int backend_supports_case(const struct backend *backend, const struct case_file *file,
                          struct error *err);

/* Return the event `hello`, `phase` or a failed `done`. `more`: an object with further
 * keys, or NULL; ownership is taken. `peer`: the rank that caused the failure, or -1. */
json_t *describe_hello(const struct backend *backend, long pid, const char *host,
                       const char *hostid);
json_t *describe_phase(const char *phase, double seconds, json_t *more);
json_t *describe_failure(const char *code, const char *text, int peer);

/* The event `unreached`, about an address of rank `peer` (attempt.h). */
json_t *describe_unreached(const char *over, int peer, const struct attempt_place *place,
                           const char *via, const char *reason);

json_t *describe_connected(const struct backend *backend, struct backend_comm *comm);

#endif
