/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_stub.h - runs a TCPStore for tests and benchmarks without the server: a
 * process on loopback with only the queries that a worker makes */
#ifndef RINGBENCH_TESTS_RENDEZVOUS_STUB_H
#define RINGBENCH_TESTS_RENDEZVOUS_STUB_H

#include <sys/types.h>

struct rendezvous_stub {
    pid_t pid;
    int port;
};

/* Start a store on a numeric IPv4 address (NULL: 127.0.0.1) and port (0: any). The
 * process ends with its parent. Returns -1 on failure. */
int rendezvous_stub_start(struct rendezvous_stub *stub, const char *address, int port);
void rendezvous_stub_stop(struct rendezvous_stub *stub);

/* Serve on a listening socket; never returns. */
void rendezvous_stub_serve(int listener) __attribute__((noreturn));

#endif
