/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_stub.h - a TCPStore for tests and benchmarks that run without the server:
 * one process on loopback, just the queries that a worker makes */
#ifndef RINGBENCH_TESTS_RENDEZVOUS_STUB_H
#define RINGBENCH_TESTS_RENDEZVOUS_STUB_H

#include <sys/types.h>

struct rendezvous_stub {
    pid_t pid;
    int port;
};

/* Start it, listening on a numeric IPv4 address (NULL: 127.0.0.1) and port (0: any); it
 * ends with its parent. -1 on failure. */
int rendezvous_stub_start(struct rendezvous_stub *stub, const char *address, int port);
void rendezvous_stub_stop(struct rendezvous_stub *stub);

/* Serve on a listening socket; never returns. */
void rendezvous_stub_serve(int listener) __attribute__((noreturn));

#endif
