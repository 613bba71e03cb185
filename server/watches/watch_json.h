/* SPDX-License-Identifier: Apache-2.0 */
/* watch_json.h - a watch as docs/reference/api.md shows it. Pure. */
#ifndef RINGBENCH_SERVER_WATCHES_WATCH_JSON_H
#define RINGBENCH_SERVER_WATCHES_WATCH_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* doc: of sweep.h; names: of the nodes that it selects now, an array, taken; horizon_ms:
 * its usual time from sweep to sweep; has_nodes: with what it has of single nodes. A new
 * object. */
json_t *watch_json(const json_t *doc, json_t *names, int64_t horizon_ms, int64_t now_ms,
                   bool has_nodes);

#endif
