/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_interface.h - the network interface that NCCL will take for its own sockets
 *
 * The rule is common/spec/nccl_ifname.h's; NCCL_SOCKET_FAMILY may ask for one family of
 * addresses. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_INTERFACE_H
#define RINGBENCH_WORKER_NCCL_NCCL_INTERFACE_H

#include <netinet/in.h>

#include "common/base/error.h"

#define NCCL_INTERFACES_MAX 64
#define NCCL_INTERFACE_NAME_MAX 32

struct nccl_interface {
    char name[NCCL_INTERFACE_NAME_MAX];
    char address[INET6_ADDRSTRLEN];
};

/* Which of n (NCCL_INTERFACES_MAX at most) NCCL would take, in their order: its index, or
 * -1. ifname, family: the variables' values, NULL: not set. */
int nccl_interface_choose(const struct nccl_interface *list, int n, const char *ifname,
                          const char *family);

/* The same of this machine, by this process's environment. 1: none, though no wish of the
 * environment is in the way; what NCCL will do then is not known. */
int nccl_interface_find(struct nccl_interface *out, struct error *err);

#endif
