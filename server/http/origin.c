/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - checks the Origin and Host headers of requests */
#include "server/http/origin.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

bool origin_matches_host(const char *origin, const char *host)
{
    const char *rest = strstr(origin, "://");

    return rest && host && !strcasecmp(rest + 3, host);
}

/* Write the host name without port and brackets. Returns false if it is empty or too
 * long. */
static bool host_name(const char *host, char name[256])
{
    size_t len;

    if (*host == '[') {
        host++;
        len = strcspn(host, "]");
    } else {
        len = strcspn(host, ":");
    }
    if (len == 0 || len > 255)
        return false;
    memcpy(name, host, len);
    name[len] = '\0';
    return true;
}

static bool is_listed(const char *name, const char *names)
{
    size_t len = strlen(name);

    for (; *names; names += strspn(names, ",")) {
        size_t n = strcspn(names, ",");

        if (n == len && !strncasecmp(names, name, n))
            return true;
        names += n;
    }
    return false;
}

bool origin_host_is_known(const char *host, const char *names)
{
    static const char suffix[] = ".localhost";
    char name[256];
    unsigned char address[16];
    size_t len;

    if (!host_name(host, name))
        return false;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return true;
    len = strlen(name);
    return !strcasecmp(name, "localhost") || is_listed(name, names) ||
           (len > sizeof(suffix) - 1 &&
            !strcasecmp(name + len - (sizeof(suffix) - 1), suffix));
}
