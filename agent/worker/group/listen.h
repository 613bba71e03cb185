/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - a socket on which peers of a case find this rank */
#ifndef RINGBENCH_WORKER_GROUP_LISTEN_H
#define RINGBENCH_WORKER_GROUP_LISTEN_H

#include "common/base/error.h"

/* Listen on a free port of one own address, close-on-exec and not blocking. Returns the
 * descriptor and sets *port, or -1. */
int listen_on(const char *host, int *port, struct error *err);

#endif
