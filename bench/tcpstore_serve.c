/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_serve.c - serves a TCPStore alone for measurements: prints its port, and runs
 * until it is killed */
#include <stdio.h>

#include "common/base/log.h"
#include "server/rendezvous/rendezvous.h"

int main(void)
{
    const struct rendezvous_config config = {.listen.ss_family = AF_INET6};
    struct rendezvous_store *store;
    struct rendezvous *rendezvous;
    struct error err;
    uv_loop_t loop;

    log_init("tcpstore_serve", LOG_INFO);
    uv_loop_init(&loop);
    rendezvous = rendezvous_create(&loop, &config);
    store = rendezvous_open(rendezvous, "bench", NULL, 0, &err);
    if (!store) {
        log_error("%s", err.text);
        return 1;
    }
    printf("%d\n", rendezvous_store_port(store));
    fflush(stdout);
    return uv_run(&loop, UV_RUN_DEFAULT);
}
