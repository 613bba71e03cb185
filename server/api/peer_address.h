/* peer_address.h - where a request comes from, as text */
#ifndef RINGBENCH_SERVER_API_PEER_ADDRESS_H
#define RINGBENCH_SERVER_API_PEER_ADDRESS_H

#include <netdb.h>

#include "server/http/http.h"

/* The request's address, "" if it has none. An IPv4 address in IPv6 form is given as
 * IPv4. */
void peer_address_text(const struct http_request *request, char out[NI_MAXHOST]);

#endif
