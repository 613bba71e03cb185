/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - streams a run's events to a client: the stored ones, then live ones */
#ifndef RINGBENCH_SERVER_API_FOLLOW_H
#define RINGBENCH_SERVER_API_FOLLOW_H

#include "server/api/api.h"
#include "server/render/event_writer.h"

struct follow_options {
    enum event_form form;
    int status;         /* of the answer */
    int64_t after;      /* the last event id that the client has */
    bool wants_samples; /* samples of rows */
    bool wants_ranks;   /* each rank's time, in JSON */
    bool is_bare;       /* without results */
    bool wants_summary; /* summary events; only for endless SSE */
    bool is_endless;    /* follow until the run ends; else stop after the stored events */
};

/* Answer the request with the run's events. run: its document, borrowed. */
void follow_start(struct api *api, struct http_request *request, const json_t *run,
                  const struct follow_options *options);

#endif
