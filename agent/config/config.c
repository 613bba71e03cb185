/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - the agent's options and the values derived from them */
#include "agent/config/config.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config/inherit.h"
#include "common/base/beside.h"
#include "common/base/clean_text.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/secret_file.h"
#include "common/base/this_machine.h"
#include "common/base/variables.h"
#include "common/spec/spec_value.h"

#define TOKEN_MAX 4096

static const char program[] = "ringbench-agent";
static const char summary[] =
    "Offers this node to a ringbench server and starts workers for its runs.";

#define FIELD(name) offsetof(struct agent_config, name)

static const struct option table[] = {
    {"server", OPTION_STRING, FIELD(server), NULL, "URL",
     "URL of the server, http://HOST:PORT", 0, 0},
    {"name", OPTION_STRING, FIELD(name), NULL, "NAME",
     "this node's name (default: SLURMD_NODENAME, else the host name)", 0, 0},
    {"group", OPTION_STRING, FIELD(group), NULL, "GROUP",
     "group of nodes that belong together (default: from the batch job)", 0, 0},
    {"label", OPTION_LIST, FIELD(label), NULL, "K=V", "label of the node; repeatable", 0,
     0},
    {"ranks", OPTION_INT, FIELD(ranks), "0", "N",
     "ranks offered on the host backend; 0: one per CPU", 0, 4096},
    {"advertise", OPTION_STRING, FIELD(advertise), NULL, "ADDR",
     "address or name at which other nodes reach this one", 0, 0},
    {"token-file", OPTION_STRING, FIELD(token_file), NULL, "FILE",
     "file with the agent's token", 0, 0},
    {"ca-file", OPTION_STRING, FIELD(ca_file), NULL, "FILE",
     "file with CA certificates that verify the server", 0, 0},
    {"spool-dir", OPTION_STRING, FIELD(spool_dir), NULL, "DIR",
     "directory of events not yet delivered (default: under XDG_RUNTIME_DIR or /tmp)", 0,
     0},
    {"config-dir", OPTION_STRING, FIELD(config_dir), "/etc/ringbench", "DIR",
     "directory of this node's permissions: allow_env, programs.d", 0, 0},
    {"worker-dir", OPTION_STRING, FIELD(worker_dir), NULL, "DIR",
     "directory of ringbench-worker-* (default: beside this program)", 0, 0},
    {"nccl-libs", OPTION_LIST, FIELD(nccl_libs), NULL, "PATH",
     "libnccl that runs may request; repeatable", 0, 0},
    {"pass-env", OPTION_LIST, FIELD(pass_env), NULL, "NAME",
     "further variable that workers inherit, or NAME*; repeatable", 0, 0},
    {"once", OPTION_FLAG, FIELD(once), NULL, NULL, "leave after the first run", 0, 0},
    {"idle-exit", OPTION_INT, FIELD(idle_exit), "0", "S",
     "leave after S seconds without a run; 0: never", 0, 31536000},
    {"log-level", OPTION_STRING, FIELD(level), "info", "LEVEL",
     "error, warn, info, debug", 0, 0},
    {"config", OPTION_STRING, FIELD(config), NULL, "FILE", "read options from a file", 0,
     0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, NULL, 0, 0}};

static void set_text(char **field, const char *text)
{
    char *copy = memory_text(text, "an option");

    free(*field);
    *field = copy;
}

/* The agent sends the value as JSON, to the server or to ringbench-case. */
static int check_utf8(const char *option, const char *value, struct error *err)
{
    json_t *text = value ? json_string(value) : json_null();

    json_decref(text);
    return text ? 0
                : error_set(err, ERROR_INVALID, "--%s: the value is not UTF-8", option);
}

/* ---- the server's URL ---- */

static int check_url(CURLU *url, const char *text, char **scheme, char **host,
                     struct error *err)
{
    if (curl_url_set(url, CURLUPART_URL, text, 0))
        return error_set(err, ERROR_INVALID,
                         "--server: '%.200s' is not a URL such as http://HOST:PORT",
                         text);
    if (curl_url_get(url, CURLUPART_SCHEME, scheme, 0) ||
        curl_url_get(url, CURLUPART_HOST, host, 0))
        return error_set(err, ERROR_INVALID, "--server: '%.200s' contains no host", text);
    if (strcmp(*scheme, "http") != 0 && strcmp(*scheme, "https") != 0)
        return error_set(err, ERROR_INVALID,
                         "--server: '%.200s' is neither http nor https", text);
    return 0;
}

static int load_server(struct agent_config *config, struct error *err)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL;
    size_t len;
    int result = -1;

    if (!config->server || config->server[0] == '\0') {
        error_set(err, ERROR_INVALID,
                  "--server is missing; use --server http://HOST:PORT");
        goto out;
    }
    for (len = strlen(config->server); len > 0 && config->server[len - 1] == '/'; len--)
        config->server[len - 1] = '\0';
    if (check_utf8("server", config->server, err) || !url ||
        check_url(url, config->server, &scheme, &host, err) || !host)
        goto out;
    /* An IPv6 address comes in brackets. */
    len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']')
        host[len - 1] = '\0';
    set_text(&config->server_host, host[0] == '[' ? host + 1 : host);
    result = 0;
out:
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return result;
}

/* ---- name, address, group, labels, ranks ---- */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;

        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Resolve a host name once, because servers and workers accept only numeric addresses.
 * Prefer an address other than loopback: Debian maps a host's own name to 127.0.1.1. */
static int load_advertise(struct agent_config *config, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    const struct addrinfo *best;
    char text[NI_MAXHOST] = "";
    int rc;

    if (!config->advertise)
        return 0;
    rc = getaddrinfo(config->advertise, NULL, &hints, &all);
    if (rc || !all)
        return error_set(
            err, ERROR_INVALID,
            "--advertise: '%.200s' is not an address and cannot be resolved: %s",
            config->advertise, gai_strerror(rc));
    best = all;
    for (const struct addrinfo *a = all; a && is_loopback(best->ai_addr); a = a->ai_next)
        best = a;
    rc = getnameinfo(best->ai_addr, best->ai_addrlen, text, sizeof(text), NULL, 0,
                     NI_NUMERICHOST);
    freeaddrinfo(all);
    if (rc)
        return error_set(err, ERROR_INVALID, "--advertise: '%.200s': %s",
                         config->advertise, gai_strerror(rc));
    if (strcmp(text, config->advertise) != 0)
        log_info("--advertise %s resolves to %s", config->advertise, text);
    set_text(&config->advertise, text);
    return 0;
}

/* Variables in which launchers number a job's processes on a node from 0: Open MPI, Hydra
 * (MPICH, Intel MPI), MVAPICH2, Cray's PALS and PMI, jsrun, Flux, Slurm (also set in job
 * scripts). */
static const char *const local_ranks[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",          "PMI_LOCAL_RANK",  "JSM_NAMESPACE_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID",         "SLURM_LOCALID"};

static bool is_above_zero(const char *text)
{
    char *end;

    return text && isdigit((unsigned char)text[0]) && strtol(text, &end, 10) > 0 &&
           *end == '\0';
}

/* If a job starts several agents without a name on a node, only the first agent offers
 * the node. */
static void find_first(struct agent_config *config)
{
    for (size_t i = 0; i < sizeof(local_ranks) / sizeof(local_ranks[0]); i++)
        if (is_above_zero(getenv(local_ranks[i])))
            config->not_first_by = local_ranks[i];
}

/* Return the node's name in Slurm. Hydra copies the environment of mpiexec to all nodes,
 * so SLURMD_NODENAME may contain another node's name there. */
static const char *slurm_name(void)
{
    return getenv("MPI_LOCALRANKID") ? NULL : getenv("SLURMD_NODENAME");
}

static int load_name(struct agent_config *config, struct error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *slurm = slurm_name();

    if (!config->name) {
        find_first(config);
        gethostname(host, sizeof(host) - 1);
        set_text(&config->name, slurm && slurm[0] ? slurm : host);
    }
    if (!id_is_node_name(config->name))
        return error_set(err, ERROR_INVALID,
                         "--name: '%.60s' is not 1 to %d characters of A-Z, a-z, 0-9, "
                         "'.', '_', '-'",
                         config->name, ID_NODE_MAX);
    return 0;
}

/* A pod of a Kubernetes job has the job's name, a dash and an index as its host name. */
static int kubernetes_group(char *out, size_t size)
{
    char name[HOST_NAME_MAX + 1] = "";
    const char *job = getenv("JOB_NAME");
    const char *index = getenv("JOB_COMPLETION_INDEX");
    size_t len;

    if (!getenv("KUBERNETES_SERVICE_HOST"))
        return -1;
    if (job && job[0])
        return snprintf(out, size, "k8s-%s", job) < (int)size ? 0 : -1;
    gethostname(name, sizeof(name) - 1);
    len = strlen(name);
    if (!index || len <= strlen(index) + 1 ||
        strcmp(name + len - strlen(index), index) != 0)
        return -1;
    name[len - strlen(index) - 1] = '\0';
    return snprintf(out, size, "k8s-%s", name) < (int)size ? 0 : -1;
}

static void find_group(struct agent_config *config)
{
    static const char *const jobs[][2] = {
        {"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}};
    char group[512];

    if (config->group)
        return;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        const char *id = getenv(jobs[i][0]);

        if (!id || !id[0])
            continue;
        snprintf(group, sizeof(group), "%s-%s", jobs[i][1], id);
        set_text(&config->group, group);
        return;
    }
    if (kubernetes_group(group, sizeof(group)) == 0)
        set_text(&config->group, group);
}

/* Check the group as the server does, so that an invalid one is reported at start. */
static int load_group(struct agent_config *config, struct error *err)
{
    char fault[CLEAN_TEXT_FAULT_MAX];

    find_group(config);
    if (config->group && clean_text_fault(config->group, fault))
        return error_set(err, ERROR_INVALID, "--group: must not contain %s", fault);
    return 0;
}

static int check_labels(const struct agent_config *config, struct error *err)
{
    struct problems problems;
    const json_t *first;
    int result = 0;

    problems_init(&problems);
    spec_check_labels(config->labels, "", &problems);
    first = json_array_get(problems.errors, 0);
    if (first)
        result = error_set(err, ERROR_INVALID, "--label: %s",
                           json_get_str(first, "detail", ""));
    problems_release(&problems);
    return result;
}

static int load_labels(struct agent_config *config, struct error *err)
{
    config->labels = json_object();
    for (size_t i = 0; i < config->label.count; i++) {
        char *item = config->label.items[i];
        char *equals = strchr(item, '=');

        if (!equals || equals == item)
            return error_set(err, ERROR_INVALID, "--label: '%.60s' is not KEY=VALUE",
                             item);
        *equals = '\0';
        if (json_object_set_new(config->labels, item, json_string(equals + 1)))
            return error_set(err, ERROR_INVALID, "--label: '%.60s' is not UTF-8 text",
                             item);
    }
    return check_labels(config, err);
}

static void load_ranks(struct agent_config *config)
{
    if (config->ranks == 0)
        config->ranks = this_machine_cpus_count();
    if (config->ranks == 0)
        config->ranks = sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- files ---- */

static int read_token(FILE *file, struct agent_config *config, struct error *err)
{
    char text[TOKEN_MAX + 1];
    size_t n = fread(text, 1, sizeof(text) - 1, file), len;

    if (ferror(file))
        return error_set_errno(err, ERROR_IO, errno, "cannot read token file %s",
                               config->token_file);
    text[n] = '\0';
    len = strcspn(text, " \t\r\n");
    if (len == 0 || strspn(text + len, " \t\r\n") != strlen(text + len))
        return error_set(err, ERROR_INVALID,
                         "token file %s does not contain exactly one token",
                         config->token_file);
    text[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        if (!isgraph((unsigned char)text[i]))
            return error_set(err, ERROR_INVALID,
                             "token file %s: the token contains a character that is not "
                             "printable ASCII",
                             config->token_file);
    }
    set_text(&config->token, text);
    return 0;
}

static int load_token(struct agent_config *config, struct error *err)
{
    FILE *file;
    int result;

    if (!config->token_file)
        return 0;
    file = secret_file_open("token file", config->token_file, err);
    if (!file)
        return -1;
    result = read_token(file, config, err);
    fclose(file);
    return result;
}

static int check_ca_file(const struct agent_config *config, struct error *err)
{
    if (!config->ca_file || access(config->ca_file, R_OK) == 0)
        return 0;
    return error_set_errno(err, ERROR_IO, errno, "cannot read CA file %s",
                           config->ca_file);
}

static void add_consent(struct agent_config *config, const char *name)
{
    struct option_list *list = &config->consented;

    list->items = realloc(list->items, (list->count + 1) * sizeof(*list->items));
    if (!list->items)
        memory_out("a list of variables");
    list->items[list->count++] = memory_text(name, "a list of variables");
}

static void read_consent(struct agent_config *config, FILE *file)
{
    char line[512];

    while (fgets(line, sizeof(line), file)) {
        char *name = line + strspn(line, " \t");

        name[strcspn(name, " \t\r\n#")] = '\0';
        if (name[0] != '\0')
            add_consent(config, name);
    }
}

/* Read a file with one name per line and # for comments. The file is optional. */
static int load_consent(struct agent_config *config, struct error *err)
{
    const char *faults = getenv("RINGBENCH_ALLOW_FAULTS");
    char path[PATH_MAX];
    FILE *file;

    if (faults && strcmp(faults, "1") == 0)
        add_consent(config, "RINGBENCH_ALLOW_FAULTS");
    snprintf(path, sizeof(path), "%s/allow_env", config->config_dir);
    if (access(path, F_OK) && errno == ENOENT)
        return 0;
    /* The listed variables can make workers load code, so only trusted users may write to
     * the file. */
    file = secret_file_open_public("list of allowed variables", path, err);
    if (!file)
        return -1;
    read_consent(config, file);
    fclose(file);
    return 0;
}

static int load_worker_dir(struct agent_config *config, struct error *err)
{
    char beside[PATH_MAX], path[PATH_MAX];
    const char *from = config->worker_dir ? config->worker_dir : beside;

    if (!config->worker_dir && beside_program(".", beside))
        return error_set(
            err, ERROR_INTERNAL,
            "cannot find this program's directory: name the directory of the "
            "workers with --worker-dir");
    if (!realpath(from, path))
        return error_set_errno(err, ERROR_IO, errno,
                               "cannot resolve the worker directory %s", from);
    set_text(&config->worker_dir, path);
    return 0;
}

static void load_spool_dir(struct agent_config *config)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[PATH_MAX];

    if (config->spool_dir)
        return;
    if (runtime && runtime[0] == '/' && access(runtime, W_OK) == 0)
        snprintf(path, sizeof(path), "%s/ringbench-%s", runtime, config->name);
    else
        snprintf(path, sizeof(path), "/tmp/ringbench-%u-%s", (unsigned)geteuid(),
                 config->name);
    set_text(&config->spool_dir, path);
}

static int check_pass_env(const struct agent_config *config, struct error *err)
{
    for (size_t i = 0; i < config->pass_env.count; i++) {
        const char *item = config->pass_env.items[i];
        size_t len = strcspn(item, "=* \t");

        if (item[0] == '\0' || strcmp(item + len, item[len] == '*' ? "*" : "") != 0)
            return error_set(err, ERROR_INVALID,
                             "--pass-env: '%.60s' is neither NAME nor PREFIX*", item);
    }
    return 0;
}

/* Workers do not inherit the agent's own options, such as its token file's path. */
static int load_environment(struct agent_config *config, struct error *err)
{
    struct env_list *list = &config->worker_environment;
    char name[OPTION_VARIABLE_MAX];

    if (check_pass_env(config, err))
        return -1;
    inherit_environment(list, environ, &config->pass_env);
    for (const struct option *o = table; o->name; o++) {
        option_variable(o, name);
        env_list_unset(list, name);
    }
    return 0;
}

static int check_values(const struct agent_config *config, struct error *err)
{
    for (size_t i = 0; i < config->nccl_libs.count; i++)
        if (check_utf8("nccl-libs", config->nccl_libs.items[i], err))
            return -1;
    return check_utf8("worker-dir", config->worker_dir, err) ||
                   check_utf8("spool-dir", config->spool_dir, err) ||
                   check_utf8("config-dir", config->config_dir, err)
               ? -1
               : 0;
}

static int load_level(struct agent_config *config, struct error *err)
{
    int level = log_level_parse(config->level);

    if (level < 0)
        return error_set(err, ERROR_INVALID,
                         "--log-level: '%.60s' is not one of error, warn, info, debug",
                         config->level);
    config->log_level = (enum log_level)level;
    return 0;
}

int agent_config_reach(struct agent_config *config, struct error *err)
{
    return load_server(config, err) || load_token(config, err) ||
                   check_ca_file(config, err)
               ? -1
               : 0;
}

int agent_config_load(struct agent_config *config, int argc, char **argv,
                      struct error *err)
{
    int result;

    memset(config, 0, sizeof(*config));
    result = options_parse(program, summary, table, config, argc, argv, err);
    if (result)
        return result;
    if (load_level(config, err) || agent_config_reach(config, err) ||
        load_name(config, err) || load_advertise(config, err) ||
        load_group(config, err) || load_labels(config, err) ||
        load_consent(config, err) || load_worker_dir(config, err) ||
        load_environment(config, err))
        return -1;
    load_spool_dir(config);
    load_ranks(config);
    return check_values(config, err);
}

void agent_config_release(struct agent_config *config)
{
    for (size_t i = 0; i < config->consented.count; i++)
        free(config->consented.items[i]);
    free(config->consented.items);
    env_list_release(&config->worker_environment);
    free(config->token);
    free(config->server_host);
    json_decref(config->labels);
    options_release(table, config);
}
