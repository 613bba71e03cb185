/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.c - samples the machine before and after a case */
#include "agent/machine/conditions.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/machine/ports.h"
#include "agent/machine/sample.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/result/conditions.h"

/* The kernel counts CPU time in ticks. In a shorter interval a single tick would dominate
 * the figure. */
#define SECONDS_LEAST 0.2
#define TICKS_LEAST 100.0

struct conditions {
    char *cpus;
    json_t *bind; /* the event's member `bind`, or NULL */
    bool is_alone;
    struct machine_sample before;
    int64_t ranks_us, involuntary_most;
    double reported[CONDITION_COUNT]; /* by the ranks; NAN: not reported */
    struct ports ports;
    struct port_bytes carried[PORTS_MAX]; /* before the case */
};

struct conditions *conditions_begin(const char *cpus, json_t *bind, bool is_alone)
{
    struct conditions *conditions =
        memory_zeroed(1, sizeof(*conditions), "a case's conditions");

    conditions->cpus = memory_text(cpus, "a list of CPUs");
    conditions->bind = json_incref(bind);
    conditions->is_alone = is_alone;
    for (int i = 0; i < CONDITION_COUNT; i++)
        conditions->reported[i] = (double)NAN;
    machine_sample_read("", cpus, &conditions->before);
    ports_open(&conditions->ports, "");
    ports_read(&conditions->ports, conditions->carried);
    return conditions;
}

void conditions_add_rank(struct conditions *conditions, int64_t cpu_us,
                         int64_t involuntary)
{
    conditions->ranks_us += cpu_us;
    if (involuntary > conditions->involuntary_most)
        conditions->involuntary_most = involuntary;
}

static void keep_smallest(double *least, const json_t *value)
{
    if (json_is_number(value) && !(*least <= json_number_value(value)))
        *least = json_number_value(value);
}

void conditions_add_done(struct conditions *conditions, const json_t *done)
{
    const json_t *clocks = json_object_get(done, "clocks");
    const json_t *links = json_object_get(done, "nvlink_bytes");
    const json_t *cpu = json_object_get(clocks, "cpu_mhz");
    const json_t *gpu = json_object_get(clocks, "gpu_mhz");
    const json_t *slowed = json_object_get(clocks, "gpu_slowed");
    double *out = conditions->reported;

    keep_smallest(&out[CONDITION_CPU_MHZ_FIRST], json_array_get(cpu, 0));
    keep_smallest(&out[CONDITION_CPU_MHZ_LAST], json_array_get(cpu, 1));
    keep_smallest(&out[CONDITION_GPU_MHZ_FIRST], json_array_get(gpu, 0));
    keep_smallest(&out[CONDITION_GPU_MHZ_LAST], json_array_get(gpu, 1));
    if (json_is_boolean(slowed) && isnan(out[CONDITION_GPU_SLOWED]))
        out[CONDITION_GPU_SLOWED] = 0.0;
    out[CONDITION_GPU_SLOWED] += json_is_true(slowed);
    if (json_is_integer(links) && isnan(out[CONDITION_NVLINK_BYTES]))
        out[CONDITION_NVLINK_BYTES] = 0.0;
    out[CONDITION_NVLINK_BYTES] += (double)json_integer_value(links);
}

/* The increase of a counter divided by `whole`, or NAN if there is no counter. */
static double share(int64_t before, int64_t after, double whole)
{
    return before < 0 || after < before || whole <= 0.0
               ? (double)NAN
               : (double)(after - before) / whole;
}

static void fill(const struct conditions *conditions, const struct machine_sample *after,
                 double out[CONDITION_COUNT])
{
    const struct machine_sample *before = &conditions->before;
    double seconds = (double)(after->taken_ns - before->taken_ns) / 1e9;
    double ranks = (double)conditions->ranks_us / 1e6 / seconds;
    double ticks = (double)(after->all - before->all);
    double busy = seconds < SECONDS_LEAST ? (double)NAN
                                          : share(before->busy, after->busy,
                                                  seconds * (double)sysconf(_SC_CLK_TCK));

    out[CONDITION_SECONDS] = seconds;
    out[CONDITION_RANKS] = ranks;
    /* The difference may be negative: `busy` is counted in ticks, `ranks` exactly. */
    out[CONDITION_OTHERS] =
        conditions->is_alone && !isnan(busy) ? fmax(busy - ranks, 0.0) : (double)NAN;
    out[CONDITION_STEAL] = ticks < TICKS_LEAST
                               ? (double)NAN
                               : 100.0 * share(before->stolen, after->stolen, ticks);
    out[CONDITION_INVOLUNTARY] = (double)conditions->involuntary_most / seconds;
    out[CONDITION_CPU_PRESSURE] =
        100.0 * share(before->cpu_pressure_us, after->cpu_pressure_us, seconds * 1e6);
    out[CONDITION_MEMORY_PRESSURE] =
        100.0 *
        share(before->memory_pressure_us, after->memory_pressure_us, seconds * 1e6);
    out[CONDITION_QUOTA] =
        100.0 * share(before->quota_us, after->quota_us, seconds * 1e6);
    out[CONDITION_THERMAL] = share(before->thermal, after->thermal, 1.0);
}

static json_t *event_of(const struct conditions *conditions,
                        const double values[CONDITION_COUNT])
{
    json_t *event = conditions_json(values);

    json_object_set_new(event, "type", json_string("conditions"));
    if (conditions->bind)
        json_object_set(event, "bind", conditions->bind);
    return event;
}

static void set_first(const struct conditions *conditions, double out[CONDITION_COUNT])
{
    for (int i = 0; i < CONDITION_COUNT; i++)
        out[i] = conditions->reported[i];
    out[CONDITION_LOAD] = conditions->before.load;
}

json_t *conditions_first_event(const struct conditions *conditions)
{
    double values[CONDITION_COUNT];

    set_first(conditions, values);
    return event_of(conditions, values);
}

/* NULL if no port is known. */
static json_t *ports_json(struct conditions *conditions)
{
    struct port_bytes now[PORTS_MAX];
    json_t *array = conditions->ports.n > 0 ? json_array() : NULL;

    ports_read(&conditions->ports, now);
    ports_since(&conditions->ports, conditions->carried, now);
    for (int i = 0; i < conditions->ports.n; i++) {
        const struct port_name *name = &conditions->ports.of[i].name;

        if (now[i].sent == 0 && now[i].received == 0)
            continue;
        json_array_append_new(array, json_pack("{s:s, s:s, s:I, s:I}", "kind",
                                               port_kind_name((enum port_kind)name->kind),
                                               "name", name->text, "sent_bytes",
                                               (json_int_t)now[i].sent, "received_bytes",
                                               (json_int_t)now[i].received));
    }
    return array;
}

json_t *conditions_last_event(struct conditions *conditions)
{
    double values[CONDITION_COUNT];
    struct machine_sample after;
    json_t *event, *ports;

    set_first(conditions, values);
    machine_sample_read("", conditions->cpus, &after);
    fill(conditions, &after, values);
    event = event_of(conditions, values);
    ports = ports_json(conditions);
    if (ports)
        json_object_set_new(event, "ports", ports);
    return event;
}
