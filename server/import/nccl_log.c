/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_log.c - reads NCCL's log in the output of a job */
#include "server/import/nccl_log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog_set.h"
#include "common/ncclog/pattern.h"
#include "server/analysis/transport.h"
#include "server/finding/finding.h"
#include "server/import/nccl_jobs.h"
#include "server/import/torch_log.h"

#define WHAT "an imported log" /* named in the out-of-memory message */
#define PORTS_MAX 64
#define LINE_SIZE 200
#define JOBS_MAX 64 /* maximum number of jobs that are judged separately */
#define COMMS_SHOWN 4
#define ALL_JOBS SIZE_MAX

/* Parse a line of ibdev2netdev: "mlx5_0 port 1 ==> ens13np0 (Up)". */
static void take_port(json_t *ports, const char *line, size_t len)
{
    char text[LINE_SIZE];
    struct pieces pieces;
    const struct piece *at = &pieces.at[1];
    json_t *port;

    if (len >= sizeof(text) || !memmem(line, len, " ==> ", 5) ||
        json_array_size(ports) == PORTS_MAX)
        return;
    memcpy(text, line, len);
    text[len] = '\0';
    if (!pattern_fits("*$ port # ==> $ ($)", text, &pieces))
        return;
    port = json_pack("{s:o, s:i, s:o, s:s}", "name",
                     clean_text_json(at[0].text, at[0].len), "port", (int)at[1].number,
                     "netdev", clean_text_json(at[2].text, at[2].len), "state",
                     at[3].text[0] == 'U' ? "active" : "down");
    for (size_t i = 0; i < json_array_size(ports); i++)
        if (json_equal(json_array_get(ports, i), port)) {
            json_decref(port);
            return;
        }
    json_array_append_new(ports, port);
}

/* Return the index of a host among the nodes. Append the host if it is missing. */
static size_t place_of(struct transport_node *nodes, size_t *n, const char *host)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(nodes[i].name, host) == 0)
            return i;
    nodes[*n] = (struct transport_node){.name = host};
    return (*n)++;
}

/* The file's processes, in the order of their first lines. */
struct file_logs {
    const struct ncclog_set *set;
    json_t *names;     /* array: name of each process's node */
    json_t *logs;      /* array: log of each process, or null */
    json_t *inventory; /* inventory of rank 0's node, or NULL */
    size_t *job_of, n_jobs;
};

static const char *name_of(const struct file_logs *file, size_t i)
{
    return json_string_value(json_array_get(file->names, i));
}

/* Return the names that several hosts share. Such hosts have different addresses on the
 * same interface. */
static json_t *shared_names(const struct file_logs *file)
{
    json_t *first = json_object(), *shared = json_object();

    for (size_t i = 0; i < file->set->n; i++) {
        const json_t *log = json_array_get(file->logs, i);
        const char *address = json_get_str(log, "address", NULL);
        const char *known;
        char key[2 * NCCLOG_NAME_MAX + 2];

        if (!address)
            continue;
        snprintf(key, sizeof(key), "%s %s", file->set->items[i]->host,
                 json_get_str(log, "bootstrap", ""));
        known = json_get_str(first, key, NULL);
        if (!known)
            json_object_set(first, key, json_object_get(log, "address"));
        else if (strcmp(known, address) != 0)
            json_object_set_new(shared, file->set->items[i]->host, json_true());
    }
    json_decref(first);
    return shared;
}

/* Name each process's node after its host. If several hosts share the name, add the
 * address. */
static void name_nodes(struct file_logs *file)
{
    json_t *shared = shared_names(file);

    file->names = json_array();
    for (size_t i = 0; i < file->set->n; i++) {
        const char *host = file->set->items[i]->host;
        const char *address =
            json_object_get(shared, host)
                ? json_get_str(json_array_get(file->logs, i), "address", NULL)
                : NULL;
        char name[2 * NCCLOG_NAME_MAX + 4];

        snprintf(name, sizeof(name), address ? "%s (%s)" : "%s", host,
                 address ? address : "");
        json_array_append_new(file->names, json_stringn_nocheck(name, strlen(name)));
    }
    json_decref(shared);
}

static bool is_of(const struct file_logs *file, size_t i, size_t job)
{
    return job == ALL_JOBS || file->job_of[i] == job;
}

/* Combine the logs of one job, or of all jobs, into a result. */
static json_t *fold(const struct file_logs *file, size_t job, const char *mark)
{
    const struct ncclog_set *set = file->set;
    struct transport_node *nodes = memory_zeroed(set->n, sizeof(*nodes), WHAT);
    struct transport_input input = {.nodes = nodes, .mark = mark, .is_of_file = true};
    struct transport *transport;
    json_t *out;

    for (size_t i = 0; i < set->n; i++) {
        size_t place =
            is_of(file, i, job) ? place_of(nodes, &input.n_nodes, name_of(file, i)) : 0;

        if (is_of(file, i, job) &&
            json_get_int(json_array_get(file->logs, i), "rank", -1) == 0)
            nodes[place].inventory = file->inventory;
    }
    transport = transport_create(input.n_nodes, set->n, NULL);
    for (size_t i = 0; i < set->n; i++) {
        const json_t *log = json_array_get(file->logs, i);
        struct transport_speaker speaker = {.rank = (int)i};

        if (!is_of(file, i, job) || !json_is_object(log))
            continue;
        speaker.node = (int)place_of(nodes, &input.n_nodes, name_of(file, i));
        speaker.inventory = nodes[speaker.node].inventory;
        transport_take(transport, &speaker, log);
    }
    out = transport_fold(transport, &input);
    transport_destroy(transport);
    free(nodes);
    return out;
}

static json_t *job_json(const struct file_logs *file, size_t job, const json_t *folded)
{
    json_t *comms = json_array();
    size_t n = 0;

    for (size_t i = 0; i < file->set->n; i++) {
        json_t *comm = json_object_get(json_array_get(file->logs, i), "comm");
        bool has_it = !comm || !is_of(file, i, job);

        n += is_of(file, i, job);
        for (size_t k = 0; k < json_array_size(comms) && !has_it; k++)
            has_it = json_equal(json_array_get(comms, k), comm);
        if (!has_it && json_array_size(comms) < COMMS_SHOWN)
            json_array_append(comms, comm);
    }
    return json_pack("{s:I, s:O?, s:o}", "processes", (json_int_t)n, "nodes",
                     json_object_get(folded, "nodes"), "communicators", comms);
}

/* Judge each job separately, because paths that are usual in one job may be faults in
 * another. */
static void judge_jobs(const struct file_logs *file, json_t *out)
{
    json_t *verdicts = json_array(), *jobs = json_array();

    for (size_t job = 0; job < file->n_jobs && job < JOBS_MAX; job++) {
        char mark[60];
        json_t *folded;

        snprintf(mark, sizeof(mark), " (job %zu of %zu, imported)", job + 1,
                 file->n_jobs);
        folded = fold(file, job, mark);
        json_array_append_new(jobs, job_json(file, job, folded));
        json_array_extend(verdicts, json_object_get(folded, "verdicts"));
        json_decref(folded);
    }
    json_object_set_new(out, "jobs", jobs);
    json_object_set_new(out, "n_jobs", json_integer((json_int_t)file->n_jobs));
    json_object_set_new(out, "verdicts", verdicts);
}

/* If there are too many nodes or processes to analyze, at least find nodes that use
 * sockets while most nodes use another network. */
static void say_odd_nodes(const struct ncclog_set *set, json_t *out)
{
    struct finding finding = finding_begin();
    json_t *hosts = json_object(), *value;
    const char *usual = NULL, *host;
    char what[100];
    size_t n_other = 0;

    for (size_t i = 0; i < set->n; i++) {
        const char *network = set->items[i]->log.network;

        if (strcmp(network, "Socket") == 0)
            json_object_set_new_nocheck(hosts, set->items[i]->host, json_true());
        else if (*network && ++n_other)
            usual = network;
    }
    if (set->left_out_by_sockets)
        json_object_update(hosts, set->left_out_by_sockets);
    json_object_foreach (hosts, host, value)
        finding_name(&finding, host);
    snprintf(what, sizeof(what), "sockets, while most use NET/%.60s", usual ? usual : "");
    finding_put(&finding, "{s:s, s:[], s:b}", "about", "odd_node", "log", "$is_odd", 1);
    finding_set_text(&finding, "$what", what);
    value = finding_end(&finding, MESSAGE_WAY_FINDING, " (imported)");
    if (json_object_size(hosts) > 0 && 2 * n_other > set->n)
        json_array_insert(json_object_get(out, "verdicts"), 0, value);
    json_decref(value);
    json_decref(hosts);
}

/* Insert a first verdict that states how many processes were left out. */
static void say_left_out(const struct ncclog_set *set, json_t *out)
{
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:s, s:[], s:I, s:I}", "about", "ways", "log", "$left_out",
                (json_int_t)set->n_left_out, "$processes",
                (json_int_t)set->n + (json_int_t)set->n_left_out);
    json_array_insert_new(json_object_get(out, "verdicts"), 0,
                          finding_end(&finding, MESSAGE_WAYS_LEFT_OUT, " (imported)"));
}

/* Return the node of each rank in the largest communicator. Keys are ranks as text. */
static json_t *nodes_by_rank(const struct file_logs *file, long *n_ranks)
{
    json_t *nodes = json_object();

    *n_ranks = 0;
    for (size_t i = 0; i < file->set->n; i++) {
        const json_t *log = json_array_get(file->logs, i);
        long n = (long)json_get_int(log, "ranks", 0);
        char rank[24];

        if (n > *n_ranks)
            json_object_clear(nodes);
        *n_ranks = n > *n_ranks ? n : *n_ranks;
        snprintf(rank, sizeof(rank), "%lld", (long long)json_get_int(log, "rank", -1));
        if (n > 0 && n == *n_ranks)
            json_object_set_new(nodes, rank, json_clean_string(name_of(file, i)));
    }
    return nodes;
}

/* Insert PyTorch's verdicts before all others, because they explain why the job failed.
 */
static void add_torch(const struct torch_log *torch, const json_t *nodes, long n_ranks,
                      json_t *out)
{
    json_t *all = json_object_get(out, "verdicts"), *verdicts = json_array();
    size_t n = json_array_size(all);
    bool has_finding = false;

    torch_log_verdicts(torch, nodes, n_ranks, all);
    for (size_t i = n; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);

        has_finding |= verdict_has_answer(one, VERDICT_FINDING);
        json_array_append(verdicts, json_array_get(all, i));
    }
    for (size_t i = 0; i < n; i++)
        if (!has_finding || !verdict_has_answer(json_array_get(all, i), VERDICT_OK))
            json_array_append(verdicts, json_array_get(all, i));
    json_object_set_new(out, "verdicts", verdicts);
}

/* Return the result for a file that contains no line of NCCL's log. NULL if the file
 * contains no report from PyTorch either. */
static json_t *only_torch(const struct torch_log *torch)
{
    json_t *out =
        json_pack("{s:s, s:[], s:[], s:[], s:[], s:{}, s:[]}", "by", "nccl", "nodes",
                  "ways", "networks", "connected", "settings", "verdicts");

    add_torch(torch, NULL, 0, out);
    if (json_array_size(json_object_get(out, "verdicts")) > 0)
        return out;
    json_decref(out);
    return NULL;
}

/* ports: the network ports of rank 0's node. */
static json_t *fold_set(const struct ncclog_set *set, const struct torch_log *torch,
                        json_t *ports)
{
    struct file_logs file = {.set = set,
                             .logs = json_array(),
                             .inventory = json_array_size(ports) > 0
                                              ? json_pack("{s:O}", "rdma", ports)
                                              : NULL,
                             .job_of = memory_zeroed(set->n, sizeof(*file.job_of), WHAT)};
    json_t *out;

    for (size_t i = 0; i < set->n; i++) {
        json_t *log = ncclog_set_json(set, i);

        json_array_append_new(file.logs, log ? log : json_null());
    }
    name_nodes(&file);
    file.n_jobs = nccl_jobs_find(file.logs, file.job_of);
    out = fold(&file, ALL_JOBS, " (imported)");
    if (out && file.n_jobs > 1)
        judge_jobs(&file, out);
    if (out &&
        (set->n_left_out > 0 || json_array_size(json_object_get(out, "nodes")) == 0))
        say_odd_nodes(set, out);
    if (out && set->n_left_out > 0)
        say_left_out(set, out);
    if (out) {
        long n_ranks;
        json_t *nodes = nodes_by_rank(&file, &n_ranks);

        add_torch(torch, nodes, n_ranks, out);
        json_decref(nodes);
    }
    json_decref(file.logs);
    json_decref(file.names);
    json_decref(file.inventory);
    free(file.job_of);
    return out;
}

json_t *nccl_log_read(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    json_t *ports = json_array(), *out = NULL;
    struct ncclog_set set;
    struct torch_log torch;

    torch_log_init(&torch);
    ncclog_set_init(&set, NCCLOG_PROCESSES_MAX);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);

        ncclog_set_line(&set, at, length);
        take_port(ports, at, length);
        torch_log_line(&torch, at, length);
        at += length + 1;
    }
    out = set.n > 0 ? fold_set(&set, &torch, ports) : only_torch(&torch);
    torch_log_release(&torch);
    ncclog_set_release(&set);
    json_decref(ports);
    return out;
}
