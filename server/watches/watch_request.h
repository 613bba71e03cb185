/* SPDX-License-Identifier: Apache-2.0 */
/* watch_request.h - what a watch is asked to do: the body of POST /watches, understood */
#ifndef RINGBENCH_SERVER_WATCHES_WATCH_REQUEST_H
#define RINGBENCH_SERVER_WATCHES_WATCH_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/spec/spec_field.h"
#include "server/nodes/node.h"
#include "server/watches/calendar.h"

#define WATCH_NAME_MAX 100
#define WATCH_LABEL "watch"    /* of its runs: the watch's id */
#define WATCH_STALE_AFTER 2    /* times its usual time from sweep to sweep */
#define WATCH_BASELINE_RUNS 20 /* that a run is compared with, unless its spec says */

enum watch_mode { WATCH_OBSERVE, WATCH_ACT };
extern const char *const watch_modes[]; /* by enum watch_mode */

struct watch_request {
    char *name;
    json_t *spec, *every, *window; /* as given; window may be NULL */
    long nodes_at_once;            /* 0: all */
    bool idle_only;
    int mode;                 /* enum watch_mode */
    struct calendar calendar; /* of `every` and `window`; its anchor is the caller's */
};

/* The fields of the body, for params_read_body. */
extern const struct spec_fields watch_request_fields;

/* What the fields' table leaves: the calendar, and what only a watch asks of its spec
 * (NULL: it is not known). Add what is wrong. */
void watch_request_check(struct watch_request *request, const struct run_spec *spec,
                         struct problems *problems);

/* As it was given, with every default. A new object, which watch_request_fields reads. */
json_t *watch_request_json(const struct watch_request *request);
void watch_request_release(struct watch_request *request);

/* The nodes that the spec selects, by name, of those that have not left: a new array of
 * names. Empty where a launcher gives them. */
json_t *watch_request_nodes(const struct watch_request *request,
                            const struct node_registry *registry);

/* The spec of a run on these nodes (an array of names; empty: the launcher's). A new
 * object. */
json_t *watch_request_spec(const struct watch_request *request, json_t *nodes);

/* The spec of a run that measures pairs of them at once; NULL where its runs have no such
 * follow-up. */
json_t *watch_request_pairs(const struct watch_request *request, const json_t *nodes);

/* Make a spec that of a run of the watch, in the background. */
void watch_request_mark(json_t *spec, const char *watch);

#endif
