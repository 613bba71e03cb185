/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_peer.c - compares and formats clients' addresses, and checks them against
 * allowed networks */
#include "server/rendezvous/rendezvous_peer.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

static void map_ipv4(struct in6_addr *out, const struct in_addr *address)
{
    memset(out, 0, sizeof(*out));
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(&out->s6_addr[12], address, sizeof(*address));
}

void peer_from_sockaddr(struct peer *peer, const struct sockaddr *address)
{
    struct sockaddr_in6 in6;
    struct sockaddr_in in;

    memset(peer, 0, sizeof(*peer));
    if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof(in6));
        peer->address = in6.sin6_addr;
        peer->port = ntohs(in6.sin6_port);
    } else if (address->sa_family == AF_INET) {
        memcpy(&in, address, sizeof(in));
        map_ipv4(&peer->address, &in.sin_addr);
        peer->port = ntohs(in.sin_port);
    }
}

const char *peer_format(const struct peer *peer, char text[PEER_TEXT_MAX])
{
    char address[INET6_ADDRSTRLEN] = "?";

    if (IN6_IS_ADDR_V4MAPPED(&peer->address)) {
        inet_ntop(AF_INET, &peer->address.s6_addr[12], address, sizeof(address));
        snprintf(text, PEER_TEXT_MAX, "%s:%u", address, peer->port);
    } else {
        inet_ntop(AF_INET6, &peer->address, address, sizeof(address));
        snprintf(text, PEER_TEXT_MAX, "[%s]:%u", address, peer->port);
    }
    return text;
}

static bool is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static int parse_address(struct in6_addr *out, const char *text)
{
    char bare[INET6_ADDRSTRLEN];
    size_t len = strcspn(text, "%");
    struct in_addr in;

    if (len >= sizeof(bare))
        return -1;
    memcpy(bare, text, len);
    bare[len] = '\0';
    if (inet_pton(AF_INET6, bare, out) == 1)
        return 0;
    if (inet_pton(AF_INET, bare, &in) != 1)
        return -1;
    map_ipv4(out, &in);
    return 0;
}

bool peer_is_loopback(const char *address)
{
    struct in6_addr parsed;

    return parse_address(&parsed, address) == 0 && is_loopback(&parsed);
}

bool peer_is_here(const char *address)
{
    struct ifaddrs *list, *at;
    struct in6_addr parsed;
    struct peer own;
    bool is_here = peer_is_loopback(address);

    if (is_here || parse_address(&parsed, address) < 0 || getifaddrs(&list))
        return is_here;
    for (at = list; at && !is_here; at = at->ifa_next) {
        if (!at->ifa_addr ||
            (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6))
            continue;
        peer_from_sockaddr(&own, at->ifa_addr);
        is_here = memcmp(&own.address, &parsed, sizeof(parsed)) == 0;
    }
    freeifaddrs(list);
    return is_here;
}

static struct peer_network *add_network(struct peer_set *set)
{
    set->networks = memory_grown(set->networks, set->count, &set->capacity,
                                 sizeof(*set->networks), "a list of networks");
    return &set->networks[set->count++];
}

int peer_set_init(struct peer_set *set, const char *const *allowed, size_t n,
                  struct error *err)
{
    memset(set, 0, sizeof(*set));
    set->is_open = !allowed;
    for (size_t i = 0; allowed && i < n; i++) {
        struct peer_network *network = add_network(set);

        network->bits = 128;
        if (parse_address(&network->address, allowed[i]) < 0) {
            peer_set_release(set);
            return error_set(err, ERROR_INVALID, "\"%s\" is not a numeric address",
                             allowed[i]);
        }
    }
    return 0;
}

/* Parse "ADDRESS" or "ADDRESS/BITS". Modifies `text`. */
static int parse_network(struct peer_network *network, char *text)
{
    char *slash = strchr(text, '/'), *end;
    unsigned long bits, most;

    if (slash)
        *slash = '\0';
    if (parse_address(&network->address, text) < 0)
        return -1;
    most = IN6_IS_ADDR_V4MAPPED(&network->address) ? 32 : 128;
    bits = most;
    if (slash) {
        if (slash[1] < '0' || slash[1] > '9')
            return -1;
        bits = strtoul(slash + 1, &end, 10);
        if (*end || bits > most)
            return -1;
    }
    network->bits = (unsigned)(bits + 128 - most);
    return 0;
}

int peer_set_parse(struct peer_set *set, const char *text, struct error *err)
{
    char *copy, *word, *next = NULL;
    int rc = 0;

    memset(set, 0, sizeof(*set));
    set->is_open = !text;
    if (!text)
        return 0;
    copy = memory_text(text, "a list of networks");
    for (word = strtok_r(copy, ", ", &next); word && !rc;
         word = strtok_r(NULL, ", ", &next))
        rc = parse_network(add_network(set), word);
    free(copy);
    if (rc < 0)
        error_set(err, ERROR_INVALID,
                  "\"%.100s\" is not a list of networks such as 10.0.0.0/8,fd00::/16",
                  text);
    else if (set->count == 0)
        rc = error_set(err, ERROR_INVALID,
                       "the list of networks is empty, so no client could connect");
    if (rc < 0)
        peer_set_release(set);
    return rc;
}

void peer_set_release(struct peer_set *set)
{
    free(set->networks);
    memset(set, 0, sizeof(*set));
}

static bool is_in(const struct peer_network *network, const struct in6_addr *address)
{
    unsigned bytes = network->bits / 8, rest = network->bits % 8;

    if (memcmp(&network->address, address, bytes) != 0)
        return false;
    return rest == 0 ||
           (network->address.s6_addr[bytes] ^ address->s6_addr[bytes]) >> (8 - rest) == 0;
}

bool peer_set_has(const struct peer_set *set, const struct peer *peer)
{
    bool is_local = is_loopback(&peer->address);

    if (set->is_open)
        return true;
    for (size_t i = 0; i < set->count; i++)
        if (is_in(&set->networks[i], &peer->address) ||
            (is_local && is_loopback(&set->networks[i].address)))
            return true;
    return false;
}
