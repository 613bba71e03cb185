/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_interface.c - find the network interface that NCCL will use for its sockets */
#include "agent/worker/nccl/nccl_interface.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/worker/nccl/nccl_setting.h"
#include "common/spec/nccl_ifname.h"

int nccl_interface_choose(const struct nccl_interface *list, int n, const char *ifname,
                          const char *family, int nccl_version)
{
    const char *names[NCCL_INTERFACES_MAX];

    assert(n <= NCCL_INTERFACES_MAX);
    for (int i = 0; i < n; i++)
        names[i] = nccl_ifname_has_family(list[i].address, family) ? list[i].name : NULL;
    return nccl_ifname_choose(names, n, ifname, nccl_version);
}

static bool read_address(const struct ifaddrs *item, struct nccl_interface *out)
{
    union {
        const struct sockaddr *any;
        const struct sockaddr_in *v4;
        const struct sockaddr_in6 *v6;
    } at = {item->ifa_addr};

    snprintf(out->name, sizeof(out->name), "%s", item->ifa_name);
    if (!at.any || !(item->ifa_flags & IFF_UP))
        return false;
    if (at.any->sa_family == AF_INET)
        return inet_ntop(AF_INET, &at.v4->sin_addr, out->address, sizeof(out->address));
    /* other hosts cannot reach a link-local address */
    return at.any->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&at.v6->sin6_addr) &&
           !IN6_IS_ADDR_LOOPBACK(&at.v6->sin6_addr) &&
           inet_ntop(AF_INET6, &at.v6->sin6_addr, out->address, sizeof(out->address));
}

int nccl_interface_find(int nccl_version, struct nccl_interface *out, struct error *err)
{
    char names[256], families[32];
    const char *ifname = nccl_setting("NCCL_SOCKET_IFNAME", names, sizeof(names));
    const char *family = nccl_setting("NCCL_SOCKET_FAMILY", families, sizeof(families));
    struct nccl_interface all[NCCL_INTERFACES_MAX];
    struct ifaddrs *list;
    int n = 0;

    if (getifaddrs(&list))
        return error_set(err, ERROR_IO, "cannot list the network interfaces");
    for (const struct ifaddrs *i = list; i && n < NCCL_INTERFACES_MAX; i = i->ifa_next)
        n += read_address(i, &all[n]);
    freeifaddrs(list);
    int found = nccl_interface_choose(all, n, ifname, family, nccl_version);
    if (found < 0 && !(ifname && *ifname))
        return 1;
    if (found < 0) {
        return error_set(err, ERROR_INVALID,
                         "no network interface that is up matches NCCL_SOCKET_IFNAME=%s",
                         ifname);
    }
    *out = all[found];
    return 0;
}
