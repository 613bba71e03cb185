/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous_peer.h - compares and formats clients' addresses, and checks them against
 * allowed networks */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_PEER_H
#define RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "common/base/error.h"

#define PEER_TEXT_MAX 64

/* A client's address as IPv6, with IPv4 mapped (::ffff:a.b.c.d). */
struct peer {
    struct in6_addr address;
    unsigned port;
};

/* All addresses with the same first `bits` bits. */
struct peer_network {
    struct in6_addr address;
    unsigned bits; /* length of the prefix, 0 to 128 */
};

/* The addresses that may connect. */
struct peer_set {
    bool is_open; /* true if all addresses are allowed */
    struct peer_network *networks;
    size_t count, capacity;
};

void peer_from_sockaddr(struct peer *peer, const struct sockaddr *address);

/* Write "10.0.0.1:80" or "[fe80::1]:80"; returns text. */
const char *peer_format(const struct peer *peer, char text[PEER_TEXT_MAX]);

/* peer_is_loopback() returns true if a numeric address is a loopback address.
 * peer_is_here() also returns true for an address of this host. */
bool peer_is_loopback(const char *address);
bool peer_is_here(const char *address);

/* Allow the given numeric addresses (copied; a zone such as "%eth0" is ignored). NULL
 * allows all addresses. */
int peer_set_init(struct peer_set *set, const char *const *allowed, size_t n,
                  struct error *err);

/* Parse a list of networks, "10.0.0.0/8,fd00::/16,192.0.2.1". NULL allows all
 * addresses. */
int peer_set_parse(struct peer_set *set, const char *text, struct error *err);

void peer_set_release(struct peer_set *set);

/* Return true if the set allows the peer. A loopback address in the set allows all
 * loopback addresses of both families. */
bool peer_set_has(const struct peer_set *set, const struct peer *peer);

#endif
