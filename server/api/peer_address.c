/* peer_address.c - where a request comes from, as text */
#include "server/api/peer_address.h"

#include <string.h>

void peer_address_text(const struct http_request *request, char out[NI_MAXHOST])
{
    const struct sockaddr *peer = http_request_peer(request);
    socklen_t len;

    out[0] = '\0';
    if (!peer)
        return;
    len = peer->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                      : sizeof(struct sockaddr_in);
    if (getnameinfo(peer, len, out, NI_MAXHOST, NULL, 0, NI_NUMERICHOST))
        out[0] = '\0';
    if (strncmp(out, "::ffff:", 7) == 0 && strchr(out, '.'))
        memmove(out, out + 7, strlen(out + 7) + 1);
}
