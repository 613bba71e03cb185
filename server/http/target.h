/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - splits a request's target into decoded path, segments and query pairs */
#ifndef RINGBENCH_SERVER_HTTP_TARGET_H
#define RINGBENCH_SERVER_HTTP_TARGET_H

#include <stddef.h>

#include "common/base/error.h"

#define TARGET_SEGMENTS_MAX 16
#define TARGET_PAIRS_MAX 128

struct target_pair {
    const char *name, *value;
};

/* Every string is decoded, valid UTF-8, and lives in `memory`. */
struct target {
    char *memory;
    const char *path;
    /* decoded: "a%2Fb" is the single segment "a/b" */
    const char *segments[TARGET_SEGMENTS_MAX];
    size_t n_segments;
    struct target_pair *query;
    size_t n_query;
};

/* Parse "/path?query" or the absolute form. ERROR_INVALID for a bad escape, a NUL or text
 * that is not UTF-8; ERROR_NOT_FOUND for a path deeper than any route. On failure *target
 * is empty. */
int target_parse(struct target *target, const char *uri, struct error *err);
void target_release(struct target *target);

/* The first value of a query parameter, or NULL. "?a" gives "". */
const char *target_query(const struct target *target, const char *name);

#endif
