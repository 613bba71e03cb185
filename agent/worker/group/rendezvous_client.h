/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_client.h - a blocking TCPStore client (protocol v2: magic, then binary
 * queries)
 *
 * Source of the protocol: PyTorch's TCPStore, torch/csrc/distributed/c10d. All integers
 * are little-endian. A string is a 64-bit length and its bytes. Every request has a
 * deadline. After a failure the connection is closed and later calls fail at once. A WAIT
 * that timed out is the exception: the connection stays usable. One thread. */
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

/* Connect to host:port with a handshake, and retry until timeout_ms is over. When *stop
 * becomes non-zero, each wait fails with ERROR_UNAVAILABLE within 100 ms. stop may be
 * NULL. */
struct rendezvous_client *rendezvous_client_connect(const char *host, const char *port,
                                                    int64_t timeout_ms,
                                                    const atomic_int *stop,
                                                    struct error *err);
void rendezvous_client_destroy(struct rendezvous_client *client);

/* Prefix the keys of all following requests with "SECRET/". Borrowed; NULL: no prefix. */
void rendezvous_client_set_secret(struct rendezvous_client *client, const char *secret);

/* Time limit of all following requests except WAIT; initially 30 s. */
void rendezvous_client_set_timeout(struct rendezvous_client *client, int64_t timeout_ms);
/* Ignore the stop flag from now on, so that a stopped rank can still write its error. */
void rendezvous_client_ignore_stop(struct rendezvous_client *client);

/* The store does not answer a SET: success means that the request was sent. */
int rendezvous_client_set(struct rendezvous_client *client, const char *key,
                          const void *value, size_t len, struct error *err);
/* Append the value to *out. A missing key yields an empty value. */
int rendezvous_client_get(struct rendezvous_client *client, const char *key,
                          struct buf *out, struct error *err);
int rendezvous_client_add(struct rendezvous_client *client, const char *key,
                          int64_t delta, int64_t *value, struct error *err);
/* Store `desired` if the value equals `expected`, or if `expected` is empty and the key
 * is missing. *out receives the resulting value. */
int rendezvous_client_compare_set(struct rendezvous_client *client, const char *key,
                                  const char *expected, const char *desired,
                                  struct buf *out, struct error *err);
/* Wait until all keys exist. ERROR_TIMEOUT after timeout_ms. */
int rendezvous_client_wait(struct rendezvous_client *client, const char *const *keys,
                           size_t n, int64_t timeout_ms, struct error *err);

#endif
