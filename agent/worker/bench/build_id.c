/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.c - refuse a case whose workers come from different builds */
#include "agent/worker/bench/build_id.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/version.h"

#define KEY "ringbench/build"
#define RECORD_MAX 1024

int build_id_differ(const char *first, const char *first_node, const char *build,
                    const char *node, struct error *err)
{
    return error_set(err, ERROR_CONFLICT,
                     "the workers come from different builds: %.40s on %.100s, %.40s "
                     "on %.100s. Install the same build on all nodes",
                     first, first_node, build, node);
}

static int compare(const struct buf *stored, const char *node, struct error *err)
{
    json_t *first = json_parse(stored->data, stored->len, err);
    int status = 0;

    if (!first)
        return error_prefix(err, KEY);
    if (strcmp(json_get_str(first, "build", ""), version_build()) != 0)
        status =
            build_id_differ(json_get_str(first, "build", "?"),
                            json_get_str(first, "node", "?"), version_build(), node, err);
    json_decref(first);
    return status;
}

int build_id_agree(struct rendezvous_client *store, int rank, const char *node,
                   struct error *err)
{
    struct buf stored;
    json_t *own;
    char *text;

    node = node ? node : "this node";
    own = json_pack("{s:s, s:i, s:s}", "build", version_build(), "rank", rank, "node",
                    node);
    text = own ? json_text(own) : NULL;
    json_decref(own);
    if (!text)
        return error_set(err, ERROR_MEMORY, "out of memory");
    buf_init(&stored, RECORD_MAX);
    int status = rendezvous_client_compare_set(store, KEY, "", text, &stored, err);
    if (!status && stored.len > 0)
        status = compare(&stored, node, err);
    buf_release(&stored);
    free(text);
    return status;
}
