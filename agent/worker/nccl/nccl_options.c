/* nccl_options.c - what a case asks of the NCCL backend alone */
#include "agent/worker/nccl/nccl_options.h"

#include <string.h>

#include "common/json_util.h"

static const char *const registrations[] = {"none", "local", "symmetric", NULL};
static const char *const policies[] = {"default", "efficiency", "zero", NULL};
static const char *const streams[] = {"own", "null", NULL};

/* The place of the member's word in the list, 0 if the member is not there. */
static int choose(const json_t *json, const char *member, const char *const *words,
                  int *out, struct error *err)
{
    const char *word = json_get_str(json, member, words[0]);

    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "case: nccl.%s cannot be \"%s\"", member, word);
}

int nccl_options_read(const json_t *json, struct nccl_options *out, struct error *err)
{
    int registration = 0, policy = 0, stream = 0;

    if (choose(json, "registration", registrations, &registration, err) ||
        choose(json, "cta_policy", policies, &policy, err) ||
        choose(json, "stream", streams, &stream, err)) {
        return -1;
    }
    out->registration = (enum nccl_registration)registration;
    out->cta_policy = json_object_get(json, "cta_policy") ? policy : -1;
    out->is_null_stream = stream == 1;
    out->graph = (long)json_get_int(json, "graph", 0);
    if (out->graph < 0 || (out->graph > 0 && out->is_null_stream)) {
        return error_set(err, ERROR_INVALID, "case: nccl.graph cannot be %ld%s",
                         out->graph, out->graph > 0 ? " with stream null" : "");
    }
    return 0;
}

const char *nccl_registration_name(enum nccl_registration registration)
{
    return registrations[registration];
}
