/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - the parts of the agent put together
 *
 * Leaving: the server is told why, then the workers are stopped, their events delivered,
 * and the server hears the good-bye. Each stage has its deadline. */
#include "agent/agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "agent/config/inherit.h"
#include "agent/inventory/inventory.h"
#include "agent/inventory/probe.h"
#include "agent/link/identity.h"
#include "agent/link/link.h"
#include "agent/link/outbox.h"
#include "agent/link/spool.h"
#include "agent/process/leftovers.h"
#include "agent/process/supervisor.h"
#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "common/spec/batch_group.h"

#define PROBE_MS 60000 /* without persistence mode eight GPUs take some 20 s to wake */
#define PROBE_AGAIN_MS 2000 /* doubles, to at most: */
#define PROBE_AGAIN_MAX_MS 600000
#define TELL_MS 1000
#define STOP_MS 10000 /* SIGTERM, 5 s, SIGKILL, and time to die */
#define DELIVER_MS 5000
#define SPOOL_MS                                                                         \
    1000 /* from an event to the disk, where it is not acknowledged before               \
          */
#define ONE_LEAVE_NS INT64_C(500000000) /* an interrupt within it is the same one */
#define ALONE_MS 100 /* between two looks at what an agent that was killed left */
#define ONCE_MS 5000 /* for another case of the same run to come */

enum stage { STAGE_UP, STAGE_TELLING, STAGE_STOPPING, STAGE_DELIVERING, STAGE_LEAVING };

static const int signums[] = {SIGTERM, SIGINT, SIGHUP};

/* Stages beyond STAGE_UP come one after the other; each owns stage_timer while it lasts.
 */
struct agent {
    const struct agent_config *config;
    uv_loop_t loop;
    uv_signal_t signals[3];
    uv_timer_t stage_timer, spool_timer, idle_timer, once_timer, alone_timer, probe_timer;
    struct identity identity;
    struct spool *spool;
    bool is_spool_full;
    struct outbox *outbox;
    struct case_table *processes;
    struct probe *probe;
    uint64_t probe_wait_ms; /* until it is tried again; 0: it has not told anything */
    struct program_list *programs;
    struct binder *binder;
    struct supervisor *supervisor;
    json_t *inventory;
    struct link *link;
    size_t n_leftovers; /* cases of an agent that was killed here */
    enum stage stage;
    int signum; /* that the leave was asked for by; 0: none */
    int64_t signalled_ns;
    uint64_t once_seq; /* the number of the last `gone`; 0: no run has ended */
    int status;
    struct error *err;
};

/* ---- leaving ---- */

static void leave_now(struct agent *agent)
{
    agent->stage = STAGE_LEAVING;
    uv_timer_stop(&agent->stage_timer);
    if (agent->link)
        link_deregister(agent->link);
    else
        uv_stop(&agent->loop);
}

static void on_deliver_timeout(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    log_warn("leaving although the server has not taken all events");
    leave_now(agent);
}

static void deliver(struct agent *agent)
{
    agent->stage = STAGE_DELIVERING;
    uv_timer_start(&agent->stage_timer, on_deliver_timeout, DELIVER_MS, 0);
    if (!outbox_has_stored(agent->outbox))
        leave_now(agent);
}

static void on_stop_timeout(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    log_error("workers do not die, leaving all the same");
    deliver(agent);
}

static void stop_workers(struct agent *agent)
{
    if (agent->stage != STAGE_TELLING)
        return;
    agent->stage = STAGE_STOPPING;
    uv_timer_start(&agent->stage_timer, on_stop_timeout, STOP_MS, 0);
    if (agent->supervisor)
        supervisor_stop_all(agent->supervisor);
    if (!agent->supervisor || supervisor_live(agent->supervisor) == 0)
        deliver(agent);
}

static void on_told(void *arg)
{
    stop_workers(arg);
}

static void on_tell_timeout(uv_timer_t *timer)
{
    stop_workers(timer->data);
}

/* Told first, the server knows why the workers end; and the message is out even when all
 * are killed in a moment. */
static void leave(struct agent *agent, const char *why)
{
    if (agent->stage != STAGE_UP)
        return;
    log_info("leaving: %s", why);
    agent->stage = STAGE_TELLING;
    uv_timer_start(&agent->stage_timer, on_tell_timeout, TELL_MS, 0);
    if (agent->link)
        link_stop_polling(agent->link);
    if (!agent->link || !link_announce_leave(agent->link, why))
        stop_workers(agent);
}

static void fail(struct agent *agent, const char *text)
{
    agent->status = 1;
    if (agent->err->code == ERROR_NONE)
        error_set(agent->err, ERROR_UNAVAILABLE, "%s", text);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct agent *agent = handle->data;
    const char *group = agent->config->group;
    int64_t now_ns = clock_monotonic_ns();
    char why[128];

    /* A person who interrupts again means at once; the case processes kill the workers
     * then. Batch systems repeat SIGTERM while they wait: one leave. */
    if (agent->signum && signum == SIGINT && now_ns - agent->signalled_ns > ONE_LEAVE_NS)
        _exit(128 + signum);
    if (agent->signum)
        return;
    agent->signum = signum;
    agent->signalled_ns = now_ns;
    snprintf(why, sizeof(why), "%s (%s)%s%.80s",
             signum == SIGINT ? "interrupted" : "told to terminate",
             signum == SIGINT   ? "SIGINT"
             : signum == SIGHUP ? "SIGHUP"
                                : "SIGTERM",
             batch_group(group) ? ", job " : "", batch_group(group) ? group : "");
    leave(agent, why);
}

/* ---- idle and once ---- */

static void on_idle(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (!agent->link || !link_was_registered(agent->link))
        fail(agent, "never reached the server");
    leave(agent, "idle");
}

static void watch_idle(struct agent *agent)
{
    if (agent->config->idle_exit > 0)
        uv_timer_start(&agent->idle_timer, on_idle,
                       (uint64_t)agent->config->idle_exit * 1000, 0);
}

static void on_once(uv_timer_t *timer)
{
    leave(timer->data, "its run is over");
}

static void watch_once(struct agent *agent)
{
    if (agent->config->once && agent->once_seq > 0 &&
        outbox_acked(agent->outbox) >= agent->once_seq &&
        supervisor_live(agent->supervisor) == 0 &&
        !uv_is_active((uv_handle_t *)&agent->once_timer))
        uv_timer_start(&agent->once_timer, on_once, scaled_ms(ONCE_MS), 0);
}

/* ---- the spool ---- */

static void watch_spool(struct agent *agent);

/* A full disk makes ranks wait, and so nothing is lost. */
static void on_spool_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct error err;
    bool is_full = spool_flush(agent->spool, &err) != 0;

    if (is_full && !agent->is_spool_full)
        log_warn("no room for events in %s: workers wait until there is some (%s)",
                 spool_dir(agent->spool), err.text);
    else if (!is_full && agent->is_spool_full)
        log_info("the spool can be written again");
    if (is_full != agent->is_spool_full)
        supervisor_pause(agent->supervisor, is_full);
    agent->is_spool_full = is_full;
    watch_spool(agent);
}

static void watch_spool(struct agent *agent)
{
    if (spool_wants_flush(agent->spool) &&
        !uv_is_active((const uv_handle_t *)&agent->spool_timer))
        uv_timer_start(&agent->spool_timer, on_spool_timer, scaled_ms(SPOOL_MS), 0);
}

/* ---- what the link tells ---- */

static json_t *on_cases(void *arg)
{
    const struct agent *agent = arg;

    return supervisor_cases(agent->supervisor);
}

static void start_link(struct agent *agent);

static void on_alone_timer(uv_timer_t *timer);

/* What an earlier agent left here may take its time to die (agent/case), and until then
 * this node is not idle: the server hears of the end of those cases then; and if there
 * are none that it knows, of this agent. */
static void go_on_alone(struct agent *agent)
{
    if (!case_table_is_alone(agent->processes)) {
        if (!uv_is_active((uv_handle_t *)&agent->alone_timer))
            log_info("waiting for what an earlier agent left here to end");
        uv_timer_start(&agent->alone_timer, on_alone_timer, ALONE_MS, ALONE_MS);
        return;
    }
    uv_timer_stop(&agent->alone_timer);
    if (agent->link)
        supervisor_bury(agent->supervisor);
    else
        start_link(agent);
}

static void on_alone_timer(uv_timer_t *timer)
{
    go_on_alone(timer->data);
}

static void on_registered(void *arg, const char *local_ip)
{
    struct agent *agent = arg;

    go_on_alone(agent);
    if (!agent->config->advertise && local_ip[0] != '\0')
        supervisor_set_address(agent->supervisor, local_ip);
}

static void on_command(void *arg, const struct command *command)
{
    struct agent *agent = arg;

    if (agent->stage != STAGE_UP)
        return;
    switch (command->type) {
    case COMMAND_START:
        uv_timer_stop(&agent->idle_timer);
        uv_timer_stop(&agent->once_timer);
        agent->once_seq = 0;
        supervisor_start(agent->supervisor, command);
        if (supervisor_live(agent->supervisor) == 0)
            watch_idle(agent);
        break;
    case COMMAND_STOP:
        log_info("run %s case %lld: told to stop: %s", command->id.run,
                 (long long)command->id.number, command->reason);
        supervisor_stop(agent->supervisor, &command->id, command->wants_stacks);
        break;
    case COMMAND_LEAVE:
        leave(agent, command->reason[0] ? command->reason : "told to by the server");
        break;
    }
}

static void on_acked(void *arg)
{
    struct agent *agent = arg;

    watch_spool(agent);
    watch_once(agent);
    if (agent->stage == STAGE_DELIVERING && !outbox_has_stored(agent->outbox))
        leave_now(agent);
}

static void on_other_past(void *arg)
{
    struct agent *agent = arg;

    outbox_reset(agent->outbox);
    supervisor_forget(agent->supervisor);
    supervisor_stop_all(agent->supervisor);
}

static void on_fatal(void *arg, const char *text)
{
    struct agent *agent = arg;

    fail(agent, text);
    leave(agent, "it could not register");
}

static void on_left(void *arg)
{
    struct agent *agent = arg;

    uv_stop(&agent->loop);
}

/* ---- what the supervisor and the outbox tell ---- */

static void probe_later(struct agent *agent);

static void log_hidden_gpus(const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "gpus_usable");
    const char *why = json_get_str(gpus, "why", "");
    int usable = (int)json_get_int(gpus, "usable", 0);
    int on_bus = (int)json_get_int(gpus, "on_bus", 0);

    if (usable < on_bus)
        log_warn("this agent can use %d of the %d GPUs on the bus%s%s%s: the check "
                 "gpus of its node's preflight names the fix",
                 usable, on_bus, *why ? " (" : "", why, *why ? ")" : "");
}

/* Of backends, as probed: NCCL is not to be had while a process keeps a GPU. Whether they
 * are other ones than before. */
static bool take_backends(struct agent *agent, const json_t *probed)
{
    json_t *backends = json_deep_copy(probed);
    json_t *nccl = json_object_get(backends, "nccl");
    char text[400], reason[500];
    bool is_other;

    if (json_get_bool(nccl, "available", false) &&
        case_table_lingers(agent->processes, text, sizeof(text))) {
        snprintf(reason, sizeof(reason), SUPERVISOR_HELD, text);
        log_error("NCCL is not used: %s", reason);
        json_object_set_new(nccl, "available", json_false());
        json_object_set_new(nccl, "reason", clean_text_json(reason, strlen(reason)));
    }
    is_other = inventory_add_probed(agent->inventory, backends);
    if (is_other)
        log_hidden_gpus(agent->inventory);
    json_decref(backends);
    return is_other;
}

/* A case has ended, and perhaps not all of its processes. */
static void note_held(struct agent *agent)
{
    if (!take_backends(agent, json_object_get(agent->inventory, "backends")))
        return;
    if (agent->link && agent->stage == STAGE_UP)
        link_register_again(agent->link);
    agent->probe_wait_ms = PROBE_AGAIN_MS;
    probe_later(agent);
}

static void on_gone(void *arg, const struct case_id *id, uint64_t seq)
{
    struct agent *agent = arg;

    (void)id;
    /* The case has ended, so a write to disk can no longer disturb a measurement. */
    uv_timer_start(&agent->spool_timer, on_spool_timer, 0, 0);
    agent->once_seq = seq;
    if (supervisor_live(agent->supervisor) > 0)
        return;
    note_held(agent);
    watch_idle(agent);
    if (agent->stage == STAGE_STOPPING)
        deliver(agent);
}

static void on_ready(void *arg)
{
    struct agent *agent = arg;

    watch_spool(agent);
    if (agent->link)
        link_kick(agent->link);
}

static void on_progress(void *arg)
{
    struct agent *agent = arg;

    if (agent->link)
        link_kick_soon(agent->link);
}

/* ---- start ---- */

static void start_link(struct agent *agent)
{
    struct link_params params = {.loop = &agent->loop,
                                 .config = agent->config,
                                 .version = RINGBENCH_VERSION,
                                 .identity = &agent->identity,
                                 .outbox = agent->outbox,
                                 .inventory = agent->inventory,
                                 .handlers = {.cases = on_cases,
                                              .on_registered = on_registered,
                                              .on_command = on_command,
                                              .on_acked = on_acked,
                                              .on_other_past = on_other_past,
                                              .on_fatal = on_fatal,
                                              .on_told = on_told,
                                              .on_left = on_left,
                                              .arg = agent}};

    if (agent->stage != STAGE_UP)
        return;
    agent->link = link_create(&params);
    link_start(agent->link);
}

static void take_first_probe(struct agent *agent)
{
    const char *held = case_table_containment(agent->processes);

    log_info("a case's processes are held together by a %s", held);
    inherit_log(&agent->config->worker_environment, environ);
    if (json_object_size(json_object_get(agent->inventory, "backends")) == 0)
        log_warn("there is no ringbench-worker-* in %s", agent->config->worker_dir);
    json_object_set_new(agent->inventory, "containment", json_string(held));
    agent->probe_wait_ms = PROBE_AGAIN_MS;
    /* Not before: looking at GPUs may take longer than it may be idle. */
    watch_idle(agent);
    if (agent->n_leftovers == 0)
        go_on_alone(agent);
    else
        start_link(agent);
}

static void on_probe_timer(uv_timer_t *timer);

/* A driver may be loaded, and a library installed, after the agent has come up. */
static void probe_later(struct agent *agent)
{
    if (agent->stage != STAGE_UP || !inventory_lacks_backend(agent->inventory))
        return;
    uv_timer_start(&agent->probe_timer, on_probe_timer, scaled_ms(agent->probe_wait_ms),
                   0);
    agent->probe_wait_ms = agent->probe_wait_ms < PROBE_AGAIN_MAX_MS / 2
                               ? agent->probe_wait_ms * 2
                               : PROBE_AGAIN_MAX_MS;
}

static void on_probed(void *arg, json_t *backends, bool is_over)
{
    struct agent *agent = arg;
    bool is_other = take_backends(agent, backends);

    if (is_over) {
        probe_destroy(agent->probe);
        agent->probe = NULL;
    }
    if (agent->probe_wait_ms == 0)
        take_first_probe(agent);
    else if (is_other && agent->link && agent->stage == STAGE_UP)
        link_register_again(agent->link);
    if (is_over)
        probe_later(agent);
}

static void start_probe(struct agent *agent)
{
    struct probe_params params = {.loop = &agent->loop,
                                  .processes = agent->processes,
                                  .dir = agent->config->worker_dir,
                                  .environment = &agent->config->worker_environment,
                                  .nccl_libs = &agent->config->nccl_libs,
                                  .limit_ms = PROBE_MS};

    agent->probe = probe_start(&params, on_probed, agent);
}

/* Not beside a case, which it would slow. */
static void on_probe_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (supervisor_live(agent->supervisor) > 0)
        probe_later(agent);
    else
        start_probe(agent);
}

static void on_leftover(void *arg, const struct case_id *id)
{
    struct agent *agent = arg;

    supervisor_adopt(agent->supervisor, id);
    agent->n_leftovers++;
}

/* An agent that was killed here is one with this one. */
static void take_up_leftovers(struct agent *agent)
{
    leftovers_each(agent->spool, on_leftover, agent);
    if (agent->identity.is_resumed) {
        log_info("going on after an agent that was killed: %llu events of it are left",
                 (unsigned long long)spool_count(agent->spool));
        return;
    }
    /* They count under a boot id that is not known. */
    if (spool_count(agent->spool) > 0)
        log_warn("dropping %llu events in %s, whose file 'identity' is missing",
                 (unsigned long long)spool_count(agent->spool), spool_dir(agent->spool));
    spool_reset(agent->spool);
    supervisor_forget(agent->supervisor);
    agent->n_leftovers = 0;
}

/* What there is here to run on, but for what the workers say. */
static void look_at_host(struct agent *agent)
{
    const char *root = getenv("RINGBENCH_ROOT"); /* for tests: another's / */

    case_table_look_in(agent->processes, root ? root : "");
    agent->binder = binder_create();
    agent->inventory = inventory_read(root ? root : "");
    json_object_set_new(agent->inventory, "programs", program_list_json(agent->programs));
    inventory_add_nccl(agent->inventory, root ? root : "",
                       agent->config->worker_environment.items);
    binder_describe(agent->binder, agent->inventory);
}

static int create_parts(struct agent *agent, struct error *err)
{
    const struct agent_config *config = agent->config;
    struct outbox_handlers handlers = {on_ready, on_progress, agent};
    struct supervisor_params params = {.worker_dir = config->worker_dir,
                                       .node = config->name,
                                       .environment = &config->worker_environment,
                                       .consented = &config->consented,
                                       .nccl_libs = &config->nccl_libs,
                                       .on_gone = on_gone,
                                       .arg = agent};

    agent->spool = spool_open(config->spool_dir, err);
    if (!agent->spool)
        return error_prefix(err, "agent %s", config->name);
    if (identity_load(&agent->identity, spool_dir(agent->spool), err))
        return -1;
    agent->outbox = outbox_create(agent->spool, &handlers);
    agent->processes = case_table_create(&agent->loop, spool_dir(agent->spool), err);
    if (!agent->processes)
        return -1;
    agent->programs = program_list_load(config->config_dir);
    look_at_host(agent);
    params.binder = agent->binder;
    params.inventory = agent->inventory;
    params.outbox = agent->outbox;
    params.programs = agent->programs;
    params.processes = agent->processes;
    params.case_dir = spool_dir(agent->spool);
    agent->supervisor = supervisor_create(&params);
    take_up_leftovers(agent);
    if (config->advertise)
        supervisor_set_address(agent->supervisor, config->advertise);
    return 0;
}

static void init_handles(struct agent *agent)
{
    uv_timer_t *timers[] = {&agent->stage_timer, &agent->spool_timer,
                            &agent->idle_timer,  &agent->once_timer,
                            &agent->alone_timer, &agent->probe_timer};

    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(&agent->loop, timers[i]);
        timers[i]->data = agent;
    }
    for (size_t i = 0; i < sizeof(signums) / sizeof(signums[0]); i++) {
        uv_signal_init(&agent->loop, &agent->signals[i]);
        agent->signals[i].data = agent;
        uv_signal_start(&agent->signals[i], on_signal, signums[i]);
    }
}

static void close_handles(struct agent *agent)
{
    for (size_t i = 0; i < 3; i++)
        uv_close((uv_handle_t *)&agent->signals[i], NULL);
    uv_close((uv_handle_t *)&agent->stage_timer, NULL);
    uv_close((uv_handle_t *)&agent->spool_timer, NULL);
    uv_close((uv_handle_t *)&agent->idle_timer, NULL);
    uv_close((uv_handle_t *)&agent->once_timer, NULL);
    uv_close((uv_handle_t *)&agent->alone_timer, NULL);
    uv_close((uv_handle_t *)&agent->probe_timer, NULL);
}

/* It is leaving: what asks for that once more must not kill it on the way. */
static void block_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signums) / sizeof(signums[0]); i++)
        sigaddset(&set, signums[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void release(struct agent *agent)
{
    block_signals();
    link_destroy(agent->link);
    probe_destroy(agent->probe);
    supervisor_destroy(agent->supervisor);
    binder_destroy(agent->binder);
    case_table_destroy(agent->processes);
    close_handles(agent);
    uv_run(&agent->loop, UV_RUN_DEFAULT);
    uv_loop_close(&agent->loop);
    outbox_destroy(agent->outbox);
    if (agent->spool && spool_count(agent->spool) == 0)
        identity_remove(&agent->identity);
    spool_close(agent->spool);
    json_decref(agent->inventory);
    program_list_destroy(agent->programs);
}

int agent_run(const struct agent_config *config, struct error *err)
{
    struct agent agent;

    memset(&agent, 0, sizeof(agent));
    agent.config = config;
    agent.err = err;
    err->code = ERROR_NONE;
    if (uv_loop_init(&agent.loop)) {
        error_set(err, ERROR_INTERNAL, "can't make an event loop");
        return 1;
    }
    init_handles(&agent);
    if (create_parts(&agent, err)) {
        agent.status = 1;
        goto out;
    }
    start_probe(&agent);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
out:
    release(&agent);
    return agent.status;
}
