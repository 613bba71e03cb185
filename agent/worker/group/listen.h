/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - open a listening socket for the peers of a rank */
#ifndef RINGBENCH_WORKER_GROUP_LISTEN_H
#define RINGBENCH_WORKER_GROUP_LISTEN_H

#include "common/base/error.h"

/* Listen on a free port of this host's address `host`. Returns a non-blocking,
 * close-on-exec descriptor and sets *port, or -1. */
int listen_on(const char *host, int *port, struct error *err);

#endif
