/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - connects the parts of the agent
 *
 * An agent leaves in four stages, each with a deadline: announce the reason to the
 * server, stop the workers, deliver their events, deregister. */
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
#define PROBE_AGAIN_MS 2000 /* doubles up to PROBE_AGAIN_MAX_MS */
#define PROBE_AGAIN_MAX_MS 600000
#define ANNOUNCE_MS 1000
#define STOP_MS                                                                          \
    10000 /* time for SIGTERM, a grace period of 5 s, SIGKILL and the exit               \
           */
#define DELIVER_MS 5000
#define SPOOL_MS 1000 /* an event that is not acknowledged in this time goes to disk */
#define ONE_LEAVE_NS INT64_C(500000000) /* signals this close together count as one */
#define LEFTOVERS_MS 100 /* interval of checks for processes of an earlier agent */
#define ONCE_MS 5000     /* how long to wait for another case of the same run */

enum stage {
    STAGE_UP,
    STAGE_ANNOUNCING,
    STAGE_STOPPING,
    STAGE_DELIVERING,
    STAGE_LEAVING
};

static const int signums[] = {SIGTERM, SIGINT, SIGHUP};

/* The stages after STAGE_UP follow in this order. The current stage owns stage_timer. */
struct agent {
    const struct agent_config *config;
    uv_loop_t loop;
    uv_signal_t signals[3];
    uv_timer_t stage_timer, spool_timer, idle_timer, once_timer, leftovers_timer,
        probe_timer;
    struct identity identity;
    struct spool *spool;
    bool is_spool_full;
    struct outbox *outbox;
    struct case_table *processes;
    struct probe *probe;
    uint64_t probe_wait_ms; /* wait before the next probe; 0: no probe has answered */
    struct program_list *programs;
    struct binder *binder;
    struct supervisor *supervisor;
    json_t *inventory;
    struct link *link;
    /* number of cases of an earlier agent that used this spool and was killed */
    size_t n_leftovers;
    enum stage stage;
    int signum; /* the signal that made the agent leave; 0: none */
    int64_t signalled_ns;
    uint64_t once_seq; /* number of the last event `gone`; 0: no run has ended */
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

    log_warn("leaving before the server has acknowledged all events");
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

    log_error("leaving although some workers did not exit within %d s of the stop",
              STOP_MS / 1000);
    deliver(agent);
}

static void stop_workers(struct agent *agent)
{
    if (agent->stage != STAGE_ANNOUNCING)
        return;
    agent->stage = STAGE_STOPPING;
    uv_timer_start(&agent->stage_timer, on_stop_timeout, STOP_MS, 0);
    if (agent->supervisor)
        supervisor_stop_all(agent->supervisor);
    if (!agent->supervisor || supervisor_live(agent->supervisor) == 0)
        deliver(agent);
}

static void on_announced(void *arg)
{
    stop_workers(arg);
}

static void on_announce_timeout(uv_timer_t *timer)
{
    stop_workers(timer->data);
}

/* Send the announcement first, so that the server knows why the workers end. The
 * announcement also arrives if a batch system kills all processes a moment later. */
static void leave(struct agent *agent, const char *why)
{
    if (agent->stage != STAGE_UP)
        return;
    log_info("leaving: %s", why);
    agent->stage = STAGE_ANNOUNCING;
    uv_timer_start(&agent->stage_timer, on_announce_timeout, ANNOUNCE_MS, 0);
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

    /* A second Ctrl-C exits immediately, and the case processes then kill the workers.
     * Batch systems repeat SIGTERM while they wait, so a second SIGTERM is ignored. */
    if (agent->signum && signum == SIGINT && now_ns - agent->signalled_ns > ONE_LEAVE_NS)
        _exit(128 + signum);
    if (agent->signum)
        return;
    agent->signum = signum;
    agent->signalled_ns = now_ns;
    snprintf(why, sizeof(why), "%s (%s)%s%.80s",
             signum == SIGINT ? "interrupted" : "terminated",
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
    leave(timer->data, "its run has ended");
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

/* While the disk is full the ranks are paused, so no event is lost. */
static void on_spool_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct error err;
    bool is_full = spool_flush(agent->spool, &err) != 0;

    if (is_full && !agent->is_spool_full)
        log_warn(
            "cannot write events to %s (%s): workers are paused until there is space",
            spool_dir(agent->spool), err.text);
    else if (!is_full && agent->is_spool_full)
        log_info("events can be written to %s again: workers continue",
                 spool_dir(agent->spool));
    if (is_full != agent->is_spool_full)
        supervisor_pause(agent->supervisor, is_full);
    agent->is_spool_full = is_full;
    watch_spool(agent);
}

static void watch_spool(struct agent *agent)
{
    if (spool_needs_flush(agent->spool) &&
        !uv_is_active((const uv_handle_t *)&agent->spool_timer))
        uv_timer_start(&agent->spool_timer, on_spool_timer, scaled_ms(SPOOL_MS), 0);
}

/* ---- callbacks of the link ---- */

static json_t *on_cases(void *arg)
{
    const struct agent *agent = arg;

    return supervisor_cases(agent->supervisor);
}

static void start_link(struct agent *agent);

static void on_leftovers_timer(uv_timer_t *timer);

/* Processes of an earlier agent may take a while to die (agent/case). Until then the node
 * is not idle. Once these processes are gone, report the end of their cases; an agent
 * that adopted no case registers only then. */
static void await_leftovers(struct agent *agent)
{
    if (!case_table_is_alone(agent->processes)) {
        if (!uv_is_active((uv_handle_t *)&agent->leftovers_timer))
            log_info("waiting for processes of an earlier agent to exit");
        uv_timer_start(&agent->leftovers_timer, on_leftovers_timer, LEFTOVERS_MS,
                       LEFTOVERS_MS);
        return;
    }
    uv_timer_stop(&agent->leftovers_timer);
    if (agent->link)
        supervisor_end_adopted(agent->supervisor);
    else
        start_link(agent);
}

static void on_leftovers_timer(uv_timer_t *timer)
{
    await_leftovers(timer->data);
}

static void on_registered(void *arg, const char *local_ip)
{
    struct agent *agent = arg;

    await_leftovers(agent);
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
        log_info("run %s case %lld: stopped by the server: %s", command->id.run,
                 (long long)command->id.number, command->reason);
        supervisor_stop(agent->supervisor, &command->id, command->with_stacks);
        break;
    case COMMAND_LEAVE:
        leave(agent, command->reason[0] ? command->reason : "requested by the server");
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

static void on_history_lost(void *arg)
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
    leave(agent, "registration failed");
}

static void on_left(void *arg)
{
    struct agent *agent = arg;

    uv_stop(&agent->loop);
}

/* ---- callbacks of the supervisor and the outbox ---- */

static void probe_later(struct agent *agent);

static void log_hidden_gpus(const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "gpus_usable");
    const char *why = json_get_str(gpus, "why", "");
    int usable = (int)json_get_int(gpus, "usable", 0);
    int on_bus = (int)json_get_int(gpus, "on_bus", 0);

    if (usable < on_bus)
        log_warn(
            "this agent can use only %d of the %d GPUs on the bus%s%s%s. Fix: see the "
            "check `gpus` in the node's preflight",
            usable, on_bus, *why ? " (" : "", why, *why ? ")" : "");
}

/* NCCL is unavailable while a process of an ended case still holds a GPU. Returns true if
 * the inventory changed. */
static bool update_backends(struct agent *agent, const json_t *probed)
{
    json_t *backends = json_deep_copy(probed);
    json_t *nccl = json_object_get(backends, "nccl");
    char text[400], reason[500];
    bool is_other;

    if (json_get_bool(nccl, "available", false) &&
        case_table_lingers(agent->processes, text, sizeof(text))) {
        snprintf(reason, sizeof(reason), SUPERVISOR_HELD, text);
        log_error("NCCL is unavailable: %s", reason);
        json_object_set_new(nccl, "available", json_false());
        json_object_set_new(nccl, "reason", clean_text_json(reason, strlen(reason)));
    }
    is_other = inventory_add_probed(agent->inventory, backends);
    if (is_other)
        log_hidden_gpus(agent->inventory);
    json_decref(backends);
    return is_other;
}

/* A case has ended, but some of its processes may still hold a GPU. */
static void check_held_gpus(struct agent *agent)
{
    if (!update_backends(agent, json_object_get(agent->inventory, "backends")))
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
    check_held_gpus(agent);
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
                                              .on_history_lost = on_history_lost,
                                              .on_fatal = on_fatal,
                                              .on_announced = on_announced,
                                              .on_left = on_left,
                                              .arg = agent}};

    if (agent->stage != STAGE_UP)
        return;
    agent->link = link_create(&params);
    link_start(agent->link);
}

static void start_with_backends(struct agent *agent)
{
    const char *held = case_table_containment(agent->processes);

    log_info("the processes of a case are contained by a %s", held);
    inherit_log(&agent->config->worker_environment, environ);
    if (json_object_size(json_object_get(agent->inventory, "backends")) == 0)
        log_warn("no ringbench-worker-* in %s: no backend is available",
                 agent->config->worker_dir);
    json_object_set_new(agent->inventory, "containment", json_string(held));
    agent->probe_wait_ms = PROBE_AGAIN_MS;
    /* Start the idle timer only now: probing GPUs may take longer than idle_exit. */
    watch_idle(agent);
    if (agent->n_leftovers == 0)
        await_leftovers(agent);
    else
        start_link(agent);
}

static void on_probe_timer(uv_timer_t *timer);

/* Probe again later: a driver may be loaded, or a library installed, after the agent has
 * started. */
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
    bool is_other = update_backends(agent, backends);

    if (is_over) {
        probe_destroy(agent->probe);
        agent->probe = NULL;
    }
    if (agent->probe_wait_ms == 0)
        start_with_backends(agent);
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

/* Do not probe while a case runs: a probe would disturb its measurement. */
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

/* Continue the identity, events and cases of an agent that was killed on this spool. */
static void resume_earlier_agent(struct agent *agent)
{
    leftovers_each(agent->spool, on_leftover, agent);
    if (agent->identity.is_resumed) {
        log_info("continuing an earlier agent that was killed (%llu events are not "
                 "acknowledged)",
                 (unsigned long long)spool_count(agent->spool));
        return;
    }
    /* The boot id of the earlier agent is lost, and the server accepts its events only
     * with that id. */
    if (spool_count(agent->spool) > 0)
        log_warn("dropping %llu events in %s: the file 'identity' there is missing",
                 (unsigned long long)spool_count(agent->spool), spool_dir(agent->spool));
    spool_reset(agent->spool);
    supervisor_forget(agent->supervisor);
    agent->n_leftovers = 0;
}

/* Workers' probes add the rest later. */
static void inspect_host(struct agent *agent)
{
    const char *root = getenv("RINGBENCH_ROOT"); /* for tests: a folder used as / */

    case_table_set_root(agent->processes, root ? root : "");
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
    inspect_host(agent);
    params.binder = agent->binder;
    params.inventory = agent->inventory;
    params.outbox = agent->outbox;
    params.programs = agent->programs;
    params.processes = agent->processes;
    params.case_dir = spool_dir(agent->spool);
    agent->supervisor = supervisor_create(&params);
    resume_earlier_agent(agent);
    if (config->advertise)
        supervisor_set_address(agent->supervisor, config->advertise);
    return 0;
}

static void init_handles(struct agent *agent)
{
    uv_timer_t *timers[] = {&agent->stage_timer,     &agent->spool_timer,
                            &agent->idle_timer,      &agent->once_timer,
                            &agent->leftovers_timer, &agent->probe_timer};

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
    uv_close((uv_handle_t *)&agent->leftovers_timer, NULL);
    uv_close((uv_handle_t *)&agent->probe_timer, NULL);
}

/* The signal handles are about to close. Until exit, a further signal must not kill the
 * agent. */
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
        error_set(err, ERROR_INTERNAL, "cannot create an event loop");
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
