/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ifname.c - determines which network interface NCCL selects by name for its
 * sockets */
#include "common/spec/nccl_ifname.h"

#include <stddef.h>
#include <string.h>

#define NCCL_SKIPS_VIRBR 22800

/* Return true if one of the comma-separated items matches the interface. */
static bool is_listed(const char *list, bool is_exact, const char *name)
{
    while (*list) {
        size_t len = strcspn(list, ","), used = strcspn(list, ",:");
        bool is_same = used > 0 && strncmp(list, name, used) == 0 &&
                       (!is_exact || name[used] == '\0');
        if (is_same)
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* Return the index of the first name that the list accepts. The list may begin with "^"
 * or "=". */
static int first_of(const char *const *names, int n, const char *list)
{
    bool is_not = *list == '^', is_exact = list[is_not] == '=';

    list += is_not + is_exact;
    for (int i = 0; i < n; i++)
        if (names[i] && is_listed(list, is_exact, names[i]) != is_not)
            return i;
    return -1;
}

int nccl_ifname_choose(const char *const *names, int n, const char *ifname,
                       int nccl_version)
{
    bool skips_virbr = nccl_version >= NCCL_SKIPS_VIRBR;
    const char *const usual[] = {"ib", skips_virbr ? "^docker,lo,virbr" : "^docker,lo",
                                 "docker", "lo", "virbr"};
    int found = -1;

    if (ifname && *ifname)
        return first_of(names, n, ifname);
    for (size_t i = 0; found < 0 && i < sizeof(usual) / sizeof(usual[0]); i++)
        found = first_of(names, n, usual[i]);
    return found;
}

bool nccl_ifname_has_family(const char *address, const char *family)
{
    bool is_v6 = strchr(address, ':') != NULL;

    if (family && strcmp(family, "AF_INET") == 0)
        return !is_v6;
    return !family || strcmp(family, "AF_INET6") != 0 || is_v6;
}
