/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ifname.h - determines which network interface NCCL selects by name for its
 * sockets. Source of the rule: NCCL, src/misc/socket.cc. NCCL_SOCKET_IFNAME lists name
 * prefixes such as "eth,ib", each optionally with ":PORT". After a leading "=" it lists
 * full names, and after a leading "^" excluded names. Without the variable, NCCL uses the
 * first name that begins with "ib", else a name that is neither docker's nor loopback,
 * else docker's, else loopback. From 2.28 on, it uses libvirt's bridges (virbr) last. */
#ifndef RINGBENCH_COMMON_SPEC_NCCL_IFNAME_H
#define RINGBENCH_COMMON_SPEC_NCCL_IFNAME_H

#include <stdbool.h>

/* Return the index of the interface that NCCL selects among n names, or -1. The names are
 * in NCCL's order; NULL marks an interface without a usable address. ifname: the
 * variable's value; NULL or empty: not set. nccl_version: 22809 is 2.28.9. */
int nccl_ifname_choose(const char *const *names, int n, const char *ifname,
                       int nccl_version);

/* Return true if an address in text form has the family in NCCL_SOCKET_FAMILY (NULL: not
 * set). */
bool nccl_ifname_has_family(const char *address, const char *family);

#endif
