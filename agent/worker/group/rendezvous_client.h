/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_client.h - a blocking TCPStore client (protocol v2: magic, then binary
 * queries)
 *
 * Source of the protocol: PyTorch's TCPStore, torch/csrc/distributed/c10d. All integers
 * are little-endian; a string is a 64-bit length and its bytes. Every request has a
 * deadline; after a failure the connection is dead and later calls fail at once, except
 * that a WAIT that timed out leaves it usable. One thread. */
#ifndef RINGBENCH_WORKER_GROUP_RENDEZVOUS_CLIENT_H
#define RINGBENCH_WORKER_GROUP_RENDEZVOUS_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/error.h"

#define STORE_KEY_MAX 8192
#define STORE_VALUE_MAX 8388608

struct rendezvous_client;

/* Connect to host:port and shake hands, retrying a refused connection until timeout_ms is
 * over. `stop` (may be NULL) is watched during every wait: when it becomes non-zero the
 * call fails with ERROR_UNAVAILABLE within 100 ms. */
struct rendezvous_client *rendezvous_client_connect(const char *host, const char *port,
                                                    int64_t timeout_ms,
                                                    const atomic_int *stop,
                                                    struct error *err);
void rendezvous_client_destroy(struct rendezvous_client *client);

/* Put this and a slash before the key of each following request (borrowed; NULL:
 * nothing).
 */
void rendezvous_client_set_secret(struct rendezvous_client *client, const char *secret);

/* Deadline of each following request but WAIT; at first 30 s. */
void rendezvous_client_set_timeout(struct rendezvous_client *client, int64_t timeout_ms);
/* Stop heeding the flag: for the last words of a rank that was told to stop. */
void rendezvous_client_ignore_stop(struct rendezvous_client *client);

/* The store does not answer a SET: success means that it is on its way. */
int rendezvous_client_set(struct rendezvous_client *client, const char *key,
                          const void *value, size_t len, struct error *err);
/* Append the value to *out; that of a missing key is empty. */
int rendezvous_client_get(struct rendezvous_client *client, const char *key,
                          struct buf *out, struct error *err);
int rendezvous_client_add(struct rendezvous_client *client, const char *key,
                          int64_t delta, int64_t *value, struct error *err);
/* Store `desired` if the value equals `expected` (or, when expected is empty, the key is
 * absent); *out gets the value that stands afterwards. */
int rendezvous_client_compare_set(struct rendezvous_client *client, const char *key,
                                  const char *expected, const char *desired,
                                  struct buf *out, struct error *err);
/* Until all keys exist; ERROR_TIMEOUT when they do not by then. */
int rendezvous_client_wait(struct rendezvous_client *client, const char *const *keys,
                           size_t n, int64_t timeout_ms, struct error *err);

#endif
