/* SPDX-License-Identifier: Apache-2.0 */
/* serve_rendezvous.c - runs a small TCPStore on a given address until it is killed
 *
 * usage: serve_rendezvous ADDRESS. Prints its port. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/rendezvous_stub.h"

int main(int argc, char **argv)
{
    struct rendezvous_stub stub;

    if (argc != 2 || rendezvous_stub_start(&stub, argv[1], 0)) {
        fprintf(stderr, "usage: serve_rendezvous ADDRESS\n");
        return 2;
    }
    printf("%d\n", stub.port);
    fflush(stdout);
    waitpid(stub.pid, NULL, 0);
    return 1;
}
