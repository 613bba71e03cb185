/* nccl_options.h - what a case asks of the NCCL backend alone (the run spec's "nccl") */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_OPTIONS_H
#define RINGBENCH_WORKER_NCCL_NCCL_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/error.h"

/* How the buffers are made known to NCCL; nccl-tests' -R 0, 1, 2. */
enum nccl_registration {
    NCCL_REGISTRATION_NONE,
    NCCL_REGISTRATION_LOCAL,
    NCCL_REGISTRATION_SYMMETRIC
};

struct nccl_options {
    enum nccl_registration registration;
    int cta_policy;      /* ncclConfig_t.CTAPolicy, nccl-tests' -x; -1: left alone */
    bool is_null_stream; /* nccl-tests' -y */
    long graph;          /* launches of the calls as a CUDA graph, -G; 0: no graph */
};

/* From an object or NULL, which means the defaults; ERROR_INVALID names the member. */
int nccl_options_read(const json_t *json, struct nccl_options *out, struct error *err);

const char *nccl_registration_name(enum nccl_registration registration);

#endif
