/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - streams a run's events to a client: first the stored ones, then live ones */
#ifndef RINGBENCH_SERVER_API_FOLLOW_H
#define RINGBENCH_SERVER_API_FOLLOW_H

#include "server/api/api.h"
#include "server/render/event_writer.h"

struct follow_options {
    enum event_form form;
    int status;         /* HTTP status of the answer */
    int64_t after;      /* id of the last event that the client received */
    bool wants_samples; /* rows include their samples */
    bool wants_ranks;   /* rows in JSON include each rank's time */
    bool is_bare;       /* omit events of the type `result` */
    /* also send events of the type `summary`; only for SSE with is_endless */
    bool wants_summary;
    /* follow until the run ends; if false, stop after the stored events */
    bool is_endless;
};

/* Answer the request with the run's events. run: the run's document */
void follow_start(struct api *api, struct http_request *request, const json_t *run,
                  const struct follow_options *options);

#endif
