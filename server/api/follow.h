/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - a client that reads a run's events: those in the store, then those to come
 */
#ifndef RINGBENCH_SERVER_API_FOLLOW_H
#define RINGBENCH_SERVER_API_FOLLOW_H

#include "server/api/api.h"
#include "server/render/event_writer.h"

struct follow_options {
    enum event_form form;
    int status;         /* of the answer */
    int64_t after;      /* the last event id that the client has */
    bool wants_samples; /* of rows */
    bool wants_ranks;   /* and the time of each rank, in JSON */
    bool is_bare;       /* without results */
    bool wants_summary; /* of what was measured, as it changes; only of SSE without end */
    bool is_endless;    /* go on until the run ends; else stop at what is stored now */
};

/* Answer the request with the run's events. run: its document, borrowed. */
void follow_start(struct api *api, struct http_request *request, const json_t *run,
                  const struct follow_options *options);

#endif
