/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ifname.h - which network interface NCCL takes for its own sockets, by its name
 *
 * Source of the rule: NCCL 2.28, src/misc/socket.cc. NCCL_SOCKET_IFNAME lists beginnings
 * of names ("eth,ib", each with ":PORT" or not), after "=" whole names, after "^" names
 * not to be taken; without it the first whose name begins with "ib", else one that is
 * neither docker's nor loopback, else docker's, else loopback. */
#ifndef RINGBENCH_COMMON_SPEC_NCCL_IFNAME_H
#define RINGBENCH_COMMON_SPEC_NCCL_IFNAME_H

#include <stdbool.h>

/* Which of n names, in NCCL's order of interfaces (NULL: has no address that would do):
 * its index, or -1. ifname: the variable's value; NULL or empty: not set. */
int nccl_ifname_choose(const char *const *names, int n, const char *ifname);

/* Whether an address, as text, is of the family that NCCL_SOCKET_FAMILY asks for; NULL:
 * not set. */
bool nccl_ifname_has_family(const char *address, const char *family);

#endif
