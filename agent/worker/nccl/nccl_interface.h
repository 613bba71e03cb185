/* nccl_interface.h - the network interface that NCCL will take for its own sockets
 *
 * Source of the rule: NCCL 2.28, src/misc/socket.cc. NCCL_SOCKET_IFNAME lists beginnings
 * of names ("eth,ib"), after "=" whole names, after "^" names not to be taken; without it
 * the first whose name begins with "ib", else one that is neither docker's nor loopback,
 * else docker's, else loopback. NCCL_SOCKET_FAMILY may ask for one family of addresses.
 */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_INTERFACE_H
#define RINGBENCH_WORKER_NCCL_NCCL_INTERFACE_H

#include <netinet/in.h>

#include "common/base/error.h"

#define NCCL_INTERFACES_MAX 64
#define NCCL_INTERFACE_NAME_MAX 32

struct nccl_interface {
    char name[NCCL_INTERFACE_NAME_MAX];
    int family;
    char address[INET6_ADDRSTRLEN];
};

/* Which of n NCCL would take, in their order: its index, or -1. ifname, family: the
 * variables' values, NULL: not set. */
int nccl_interface_choose(const struct nccl_interface *list, int n, const char *ifname,
                          const char *family);

/* The same of this machine, by this process's environment. 1: none, though no wish of the
 * environment is in the way; what NCCL will do then is not known. */
int nccl_interface_find(struct nccl_interface *out, struct error *err);

#endif
