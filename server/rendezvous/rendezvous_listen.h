/* rendezvous_listen.h - the listening sockets of stores */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_LISTEN_H
#define RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_LISTEN_H

#include <sys/socket.h>

#include "common/base/error.h"

/* A numeric address without a port. "::" means both families, and IPv4 alone where the
 * kernel has no IPv6. */
int rendezvous_parse_address(struct sockaddr_storage *address, const char *text,
                             struct error *err);

/* A socket that listens on the port (0: any free one) of the address, or -1 with errno.
 */
int rendezvous_listen(const struct sockaddr_storage *address, int port);

/* The port that a socket is bound to. */
int rendezvous_bound_port(int fd);

#endif
