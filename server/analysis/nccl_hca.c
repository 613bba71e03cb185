/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_hca.c - decides which RDMA ports NCCL may use */
#include "server/analysis/nccl_hca.h"

#include <stdlib.h>
#include <string.h>

bool nccl_hca_has(const char *value, const char *device, int port, bool is_whole)
{
    const char *at = value + (*value == '^');

    is_whole = is_whole || *at == '=';
    for (at += *at == '='; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t len = strcspn(at, ":,");

        if (len > 0 && strncmp(device, at, len) == 0 && !(is_whole && device[len]) &&
            (at[len] != ':' || atoi(at + len + 1) == port))
            return true;
    }
    return false;
}

bool nccl_hca_allows(const char *value, const char *device, int port)
{
    return !*value || nccl_hca_has(value, device, port, false) != (*value == '^');
}
