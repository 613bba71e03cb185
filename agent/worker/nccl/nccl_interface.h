/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_interface.h - find the network interface that NCCL will use for its sockets
 *
 * common/spec/nccl_ifname.h documents the rule. NCCL_SOCKET_FAMILY may restrict the
 * address family. */
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

/* The index of the interface that this NCCL selects from n <= NCCL_INTERFACES_MAX, or -1.
 * ifname, family: the variables' values, NULL if not set. */
int nccl_interface_choose(const struct nccl_interface *list, int n, const char *ifname,
                          const char *family, int nccl_version);

/* Apply nccl_interface_choose() to this machine and this process's environment. Returns 1
 * if no interface qualifies and NCCL_SOCKET_IFNAME is not set: NCCL's behavior is then
 * not known. */
int nccl_interface_find(int nccl_version, struct nccl_interface *out, struct error *err);

#endif
