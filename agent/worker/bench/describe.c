/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - build a worker's events about itself */
#include "agent/worker/bench/describe.h"

#include "common/base/version.h"

#define PROTOCOL 1

static json_t *name_array(unsigned mask, int n, const char *(*name)(int))
{
    json_t *array = json_array();

    for (int i = 0; i < n; i++)
        if (mask & (1u << i))
            json_array_append_new(array, json_string(name(i)));
    return array;
}

static const char *name_of_collective(int i)
{
    return collective_name((enum collective_kind)i);
}

static const char *name_of_dtype(int i)
{
    return dtype_name((enum dtype)i);
}

static const char *name_of_redop(int i)
{
    return redop_name((enum redop)i);
}

json_t *describe_probe(const struct backend *backend)
{
    json_t *probe = backend->probe(backend);

    if (!probe)
        return NULL;
    json_object_set_new(probe, "backend", json_string(backend->name));
    json_object_set_new(probe, "version", json_string(RINGBENCH_VERSION));
    json_object_set_new(probe, "build", json_string(version_build()));
    backend_mark_unreal(backend, probe);
    json_object_set_new(
        probe, "collectives",
        name_array(backend->collectives, COLLECTIVE_COUNT, name_of_collective));
    json_object_set_new(probe, "dtypes",
                        name_array(backend->dtypes, DTYPE_COUNT, name_of_dtype));
    json_object_set_new(probe, "redops",
                        name_array(backend->redops, REDOP_COUNT, name_of_redop));
    return probe;
}

int backend_supports_case(const struct backend *backend, const struct case_file *file,
                          struct error *err)
{
    const struct series_plan *plan = &file->plan;

    for (size_t i = 0; i < plan->n_collectives; i++) {
        if (!(backend->collectives & (1u << plan->collectives[i]))) {
            return error_set(err, ERROR_UNSUPPORTED,
                             "backend %s does not support collective %s", backend->name,
                             collective_name(plan->collectives[i]));
        }
    }
    for (size_t i = 0; i < plan->n_dtypes; i++) {
        if (!(backend->dtypes & (1u << plan->dtypes[i]))) {
            return error_set(err, ERROR_UNSUPPORTED,
                             "backend %s does not support type %s", backend->name,
                             dtype_name(plan->dtypes[i]));
        }
    }
    for (size_t i = 0; i < plan->n_redops; i++) {
        if (!(backend->redops & (1u << plan->redops[i]))) {
            return error_set(err, ERROR_UNSUPPORTED,
                             "backend %s does not support reduction %s", backend->name,
                             redop_name(plan->redops[i]));
        }
    }
    return 0;
}

json_t *describe_hello(const struct backend *backend, long pid, const char *host,
                       const char *hostid)
{
    json_t *event =
        json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:s}", "protocol", PROTOCOL, "backend",
                  backend->name, "version", RINGBENCH_VERSION, "build", version_build(),
                  "pid", (json_int_t)pid, "host", host, "hostid", hostid);

    backend_mark_unreal(backend, event);
    return event;
}

json_t *describe_phase(const char *phase, double seconds, json_t *more)
{
    json_t *event = json_pack("{s:s, s:f}", "phase", phase, "seconds", seconds);

    if (event && more)
        json_object_update(event, more);
    json_decref(more);
    return event;
}

json_t *describe_connected(const struct backend *backend, struct backend_comm *comm)
{
    json_t *more = json_pack("{s:o}", "transport", backend->transport(comm));

    backend_mark_unreal(backend, more);
    if (more && backend->details) {
        json_t *details = backend->details(comm);
        json_object_update(more, details);
        json_decref(details);
    }
    return more;
}

json_t *describe_failure(const char *code, const char *text, int peer)
{
    json_t *error = json_pack("{s:s, s:s}", "code", code, "text", text);

    if (error && peer >= 0)
        json_object_set_new(error, "peer", json_integer(peer));
    return json_pack("{s:b, s:o}", "ok", 0, "error", error);
}

json_t *describe_unreached(const char *over, int peer, const struct attempt_place *place,
                           const char *via, const char *reason)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s}", "over", over, "peer", peer,
                     "address", place->address, "interface", place->interface, "via", via,
                     "reason", reason);
}
