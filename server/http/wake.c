/* wake.c - what the files below http.c tell its pump, without knowing it */
#include <stdlib.h>

#include "server/http/internal.h"

void http_server_wake(struct http_server *server)
{
    if (!server->is_pumping && !server->is_stopped)
        uv_idle_start(&server->now, server->run);
}

void http_server_handle_closed(struct http_server *server)
{
    void (*closed)(void *arg) = server->closed;
    void *arg = server->closed_arg;

    if (--server->handles > 0)
        return;
    static_files_destroy(server->files);
    certificate_release(server->certificate);
    free(server->hosts);
    free(server);
    if (closed)
        closed(arg);
}
