/* tuner.h - a run's results as the file of NCCL's example tuner plugin */
#ifndef RINGBENCH_SERVER_API_TUNER_H
#define RINGBENCH_SERVER_API_TUNER_H

#include "server/api/api.h"

#define TUNER_TYPE "text/x-nccl-tuner"

/* Answer with it. run is borrowed. */
void tuner_reply(struct api *api, struct http_request *request, json_t *run);

#endif
