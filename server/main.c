/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - starts the server's parts in order, runs the loop, and stops the parts in
 * reverse order */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/notify.h"
#include "common/base/secret_file.h"
#include "server/api/api.h"
#include "server/config.h"
#include "server/http/auth.h"
#include "server/http/static_files.h"
#include "server/launch/jobs.h"
#include "server/store/store_backup.h"
#include "server/watches/hook.h"
#include "server/watches/watches.h"

#define PEM_MAX ((size_t)1 << 20)

/* Contents of the files that are read at the start and after each SIGHUP. */
struct secrets {
    struct http_auth *auth;
    char *tls_cert, *tls_key; /* contents of the PEM files */
};

struct server {
    struct config config;
    uv_loop_t loop;
    uv_signal_t sigterm, sigint, sighup;
    struct store *store;
    struct rendezvous *rendezvous;
    struct jobs *jobs;
    struct scheduler *scheduler;
    struct watches *watches;
    struct secrets secrets;
    struct api api;
};

static void free_scheduler(void *arg)
{
    struct server *server = arg;

    watches_free(server->watches);
    scheduler_free(server->scheduler);
    server->watches = NULL;
    server->scheduler = NULL;
}

/* Close the store. Each part is closed after all parts that use it. */
static void close_store(void *arg)
{
    struct server *server = arg;

    server->rendezvous = NULL;
    if (server->jobs)
        jobs_close(server->jobs);
    server->jobs = NULL;
    if (server->store)
        store_close(server->store, free_scheduler, server);
    server->store = NULL;
}

static void close_rendezvous(void *arg)
{
    struct server *server = arg;

    if (server->rendezvous)
        rendezvous_close(server->rendezvous, close_store, server);
    else
        close_store(server);
}

static void close_scheduler(void *arg)
{
    struct server *server = arg;

    if (server->scheduler)
        scheduler_close(server->scheduler, close_rendezvous, server);
    else
        close_rendezvous(server);
}

static void close_watches(void *arg)
{
    struct server *server = arg;

    server->api.http = NULL;
    api_demo_end(&server->api);
    if (server->watches)
        watches_close(server->watches);
    close_scheduler(server);
}

static void stop(struct server *server)
{
    /* Closing the handles restores the default action of the signals, so a second signal
     * kills the server. */
    uv_close((uv_handle_t *)&server->sigterm, NULL);
    uv_close((uv_handle_t *)&server->sigint, NULL);
    uv_close((uv_handle_t *)&server->sighup, NULL);
    if (server->api.http)
        http_server_close(server->api.http, close_watches, server);
    else
        close_watches(server);
}

static void on_signal(uv_signal_t *handle, int number)
{
    log_info("stopping on %s", number == SIGTERM ? "SIGTERM" : "SIGINT");
    stop(handle->data);
}

/* Raise the limit on open files, because every agent opens up to two connections. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        log_warn("cannot raise the limit of open files: %s", strerror(errno));
}

static int read_pem(const char *path, bool is_secret, char **out, struct error *err)
{
    FILE *file = is_secret ? secret_file_open("TLS key", path, err) : fopen(path, "re");
    char chunk[4096];
    struct buf content;
    size_t n;
    int result = 0;

    if (!file)
        return is_secret ? -1
                         : error_set_errno(err, ERROR_IO, errno, "cannot open %s", path);
    buf_init(&content, PEM_MAX);
    while (!result && (n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        if (buf_append(&content, chunk, n))
            result = error_set(err, ERROR_LIMIT, "%s is too large for a PEM file", path);
    if (!result && ferror(file))
        result = error_set_errno(err, ERROR_IO, errno, "cannot read %s", path);
    fclose(file);
    if (!result)
        *out = buf_detach(&content, NULL);
    if (!result && !*out)
        result = error_set(err, ERROR_MEMORY, "out of memory");
    buf_release(&content);
    return result;
}

static int load_secrets(const struct config *config, struct secrets *out,
                        struct error *err)
{
    if (config->token_file) {
        out->auth = http_auth_load(config->token_file, err);
        if (!out->auth)
            return -1;
    }
    if (config->tls_cert && (read_pem(config->tls_cert, false, &out->tls_cert, err) ||
                             read_pem(config->tls_key, true, &out->tls_key, err)))
        return -1;
    return 0;
}

static void release_secrets(struct secrets *secrets)
{
    http_auth_destroy(secrets->auth);
    free(secrets->tls_cert);
    if (secrets->tls_key)
        explicit_bzero(secrets->tls_key, strlen(secrets->tls_key));
    free(secrets->tls_key);
}

/* Reload all secrets, or change nothing. */
static int reload(struct server *server, struct error *err)
{
    struct secrets fresh = {0};

    if (load_secrets(&server->config, &fresh, err) ||
        (fresh.tls_cert && http_server_set_certificate(server->api.http, fresh.tls_cert,
                                                       fresh.tls_key, err))) {
        release_secrets(&fresh);
        return -1;
    }
    http_server_set_auth(server->api.http, fresh.auth);
    jobs_set_certificate(server->jobs, fresh.tls_cert);
    release_secrets(&server->secrets);
    server->secrets = fresh;
    return 0;
}

static void on_hangup(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    const struct config *config = &server->config;
    struct error err;

    (void)number;
    if (!server->api.http)
        return;
    if (jobs_reload(server->jobs, &err))
        log_error("SIGHUP: keeping the previous launchers: %s", err.text);
    else if (config->launchers)
        log_info("SIGHUP: reloaded launchers");
    if (hook_runner_reload(watches_hooks(server->watches), &err))
        log_error("SIGHUP: keeping the previous hooks: %s", err.text);
    else if (config->hooks)
        log_info("SIGHUP: reloaded hooks");
    if (!config->token_file && !config->tls_cert)
        log_info("SIGHUP: no --token-file or --tls-cert to reload");
    else if (reload(server, &err))
        log_error("SIGHUP: keeping the previous tokens and certificate: %s", err.text);
    else
        log_info("SIGHUP: reloaded %s%s%s", config->token_file ? "tokens" : "",
                 config->token_file && config->tls_cert ? " and " : "",
                 config->tls_cert ? "certificate" : "");
}

static void catch_signals(struct server *server)
{
    signal(SIGPIPE, SIG_IGN);
    /* If SIGCHLD were ignored, the exit status of commands would be lost. */
    signal(SIGCHLD, SIG_DFL);
    uv_signal_init(&server->loop, &server->sigterm);
    uv_signal_init(&server->loop, &server->sigint);
    uv_signal_init(&server->loop, &server->sighup);
    server->sigterm.data = server->sigint.data = server->sighup.data = server;
    uv_signal_start(&server->sigterm, on_signal, SIGTERM);
    uv_signal_start(&server->sigint, on_signal, SIGINT);
    uv_signal_start(&server->sighup, on_hangup, SIGHUP);
}

/* Open the standing rendezvous. TCPStore provides no authentication, and launchers
 * unpickle its values. The only protection is the choice of listening address and allowed
 * clients. */
static int open_standing(struct server *server, struct error *err)
{
    const struct config *config = &server->config;
    const struct rendezvous_standing standing = {
        .listen = &config->standing_address,
        .allowed = config->standing_allow,
        .ttl_s = config->standing_ttl_s,
        .id_bytes = (size_t)config->standing_id_mib << 20,
    };
    const struct rendezvous_store *store;

    if (!config->standing_listen)
        return 0;
    store = rendezvous_open_standing(server->rendezvous, &standing, err);
    if (!store)
        return error_prefix(err, "standing rendezvous");
    log_info("standing rendezvous on %s, port %d", config->standing_listen,
             rendezvous_store_port(store));
    if (!config_is_loopback(&config->standing_address) && !config->standing_allow)
        log_warn("without --rendezvous-allow, every host that reaches the standing "
                 "rendezvous can change its keys");
    return 0;
}

static int start_jobs(struct server *server, struct error *err)
{
    char dir[PATH_MAX];
    const struct jobs_config config = {.store = server->store,
                                       .job_dir = dir,
                                       .launchers = server->config.launchers,
                                       .has_tokens = server->config.token_file != NULL};

    snprintf(dir, sizeof(dir), "%s/jobs", server->config.data_dir);
    server->jobs = jobs_create(&server->loop, &config, err);
    return server->jobs ? 0 : -1;
}

static int start_core(struct server *server, struct error *err)
{
    const struct config *config = &server->config;
    struct rendezvous_config rendezvous = {
        .listen = config->rendezvous_address,
        .port_low = config->port_low,
        .port_high = config->port_high,
    };
    struct scheduler_config scheduler = {
        .advertise = config->advertise,
        .lease_s = config->lease_s,
        .batch_lost_s = config->batch_lost_s,
        .max_nodes = config->max_nodes,
        .poll_s = config->poll_s,
        .join_s = config->join_timeout_s,
    };

    server->store = store_open(&server->loop, config->data_dir, err);
    if (!server->store)
        return -1;
    server->rendezvous = rendezvous_create(&server->loop, &rendezvous);
    if (open_standing(server, err))
        return -1;
    if (start_jobs(server, err))
        return -1;
    scheduler.jobs = server->jobs;
    scheduler.store = server->store;
    scheduler.rendezvous = server->rendezvous;
    server->scheduler = scheduler_create(&server->loop, &scheduler);
    if (scheduler_recover(server->scheduler, err))
        return -1;
    server->watches = watches_create(&server->loop, server->store, server->scheduler,
                                     server->jobs, server->config.hooks, err);
    if (!server->watches)
        return -1;
    store_keep(server->store, config->keep_runs, config->keep_days);
    return 0;
}

static bool is_job_token(void *arg, const char *token)
{
    return jobs_token_group(arg, token) != NULL;
}

/* Set the server's URL for hooks and for agents of jobs. It contains the name from
 * --advertise if given, else the bound address. */
static void meet_jobs(struct server *server)
{
    char url[HTTP_URL_MAX], named[HTTP_URL_MAX + 300];
    const char *port;

    if (http_server_url(server->api.http, url))
        return;
    port = strrchr(url, ':');
    snprintf(named, sizeof(named), "%s://%s%s",
             server->config.tls_cert ? "https" : "http",
             server->config.advertise ? server->config.advertise : "", port ? port : "");
    http_server_set_token_check(server->api.http, is_job_token, server->jobs);
    jobs_set_certificate(server->jobs, server->secrets.tls_cert);
    jobs_set_server(server->jobs, server->config.advertise ? named : url);
    hook_runner_set_server(watches_hooks(server->watches),
                           server->config.advertise ? named : url);
}

static int start_http(struct server *server, struct error *err)
{
    const struct config *config = &server->config;
    struct http_config http = {
        .listen = config->address,
        .tls_cert = server->secrets.tls_cert,
        .tls_key = server->secrets.tls_key,
        .web_dir = config->web_dir,
        .hosts = config->hosts,
        .auth = server->secrets.auth,
    };

    server->api.loop = &server->loop;
    server->api.store = server->store;
    server->api.scheduler = server->scheduler;
    server->api.agents = scheduler_agents(server->scheduler);
    server->api.rendezvous = server->rendezvous;
    server->api.jobs = server->jobs;
    server->api.watches = server->watches;
    server->api.allow_faults = config->allow_faults;
    server->api.is_tls = config->tls_cert != NULL;
    server->api.has_tokens = config->token_file != NULL;
    server->api.started_ms = clock_wall_ms();
    if (!config_is_loopback(&config->address) && config->token_file && !config->tls_cert)
        log_warn("tokens are sent unencrypted: add --tls-cert");
    if (!config->token_file)
        log_info(
            "accepted host names: the server's addresses, localhost, %s; add others with "
            "--allow-host",
            config->hosts);
    if (!config->web_dir)
        log_info("the web UI was not found: set its directory with --web-dir");
    server->api.http =
        http_server_create(&server->loop, &http, api_routes(), &server->api, err);
    if (!server->api.http)
        return error_prefix(err, "--listen %s", config->listen);
    meet_jobs(server);
    return 0;
}

static void announce(const struct server *server)
{
    char url[HTTP_URL_MAX];

    if (http_server_url(server->api.http, url))
        return;
    printf("listening on %s\n", url);
    fflush(stdout);
    notify("READY=1\nSTATUS=listening");
}

static void release(struct server *server)
{
    release_secrets(&server->secrets);
    config_release(&server->config);
}

static int run(struct server *server)
{
    struct error err;
    int result = 0;

    if (uv_loop_init(&server->loop)) {
        fprintf(stderr, "ringbench-server: cannot create an event loop\n");
        return 1;
    }
    catch_signals(server);
    raise_descriptor_limit();
    if (load_secrets(&server->config, &server->secrets, &err) ||
        start_core(server, &err) || start_http(server, &err)) {
        fprintf(stderr, "ringbench-server: %s\n", err.text);
        result = 1;
        stop(server);
    } else {
        announce(server);
    }
    uv_run(&server->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&server->loop))
        log_error("the event loop still has open handles at exit");
    return result;
}

/* Check that the configured UI can be served. */
static int check_web(const char *dir, struct error *err)
{
    struct static_files *files = dir ? static_files_load(dir, err) : NULL;

    if (dir && !files)
        return -1;
    static_files_destroy(files);
    return 0;
}

/* Check that the database can be opened or created in `dir`, without creating
 * anything. */
static int check_data(const char *dir, struct error *err)
{
    char path[PATH_MAX], *there = path;
    struct stat status;

    snprintf(path, sizeof(path), "%s", dir);
    while (stat(there, &status)) {
        if (errno != ENOENT || strcmp(there, ".") == 0)
            return error_set_errno(err, ERROR_IO, errno, "cannot access %s", there);
        there = dirname(there);
    }
    if (!S_ISDIR(status.st_mode))
        return error_set(err, ERROR_INVALID, "--data-dir %s: %s is not a directory", dir,
                         there);
    if (access(there, R_OK | W_OK | X_OK))
        return error_set_errno(err, ERROR_IO, errno, "--data-dir %s: cannot write to %s",
                               dir, there);
    return 0;
}

/* Run --backup or --check-config instead of serving. */
static int do_once(struct server *server)
{
    const struct config *config = &server->config;
    struct launcher_list launchers = {.n = 0};
    struct hook_runner hooks = {0};
    struct error err;

    if (load_secrets(config, &server->secrets, &err) ||
        launcher_list_load(&launchers, config->launchers, &err) ||
        hook_runner_init(&hooks, config->hooks, NULL, NULL, &err) ||
        check_web(config->web_dir, &err) ||
        (!config->backup && check_data(config->data_dir, &err)) ||
        (config->backup && store_backup(config->data_dir, config->backup, &err))) {
        fprintf(stderr, "ringbench-server: %s\n", err.text);
        return 1;
    }
    launcher_list_release(&launchers);
    hook_runner_release(&hooks);
    if (config->backup)
        printf("copied the runs in %s to %s\n", config->data_dir, config->backup);
    else
        printf("the options and their files are valid\n");
    return 0;
}

static void *allocate_json(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        memory_out("JSON");
    return memory;
}

int main(int argc, char **argv)
{
    struct server server = {.store = NULL};
    struct error err;
    int loaded = config_load(&server.config, argc, argv, &err), result = loaded < 0;

    if (loaded < 0)
        fprintf(stderr, "ringbench-server: %s\n", err.text);
    if (loaded == 0) {
        log_init("ringbench-server", server.config.level);
        json_set_alloc_funcs(allocate_json, free);
        result = server.config.backup || server.config.check_config ? do_once(&server)
                                                                    : run(&server);
    }
    release(&server);
    return result;
}
