/* SPDX-License-Identifier: Apache-2.0 */
/* tree_join.c - find the ranks of a case and connect them */
#include "agent/worker/group/tree_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/worker/group/endpoint.h"
#include "agent/worker/group/hostid.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"

#define TABLE_KEY "ringbench/tree"
#define KEY_MAX 64
#define RECORD_MAX 4096
#define TABLE_MAX STORE_VALUE_MAX
#define SLICE_MS 100 /* a stop is noticed within this time */
/* extra time for the other ranks: rank 0 times out first and names missing ranks */
#define RANK_0_MS 2000

enum { PURPOSE_OPERATIONS, PURPOSE_NOTICES, PURPOSES };

struct joining {
    struct tree *tree;
    const struct tree_config *config;
    int64_t deadline_ns;
};

static int64_t left_ms(const struct joining *joining)
{
    int64_t left = (joining->deadline_ns - clock_monotonic_ns()) / 1000000;

    return left > 0 ? left : 0;
}

/* Raise the limit of open files to the hard limit. A leader needs a descriptor per rank
 * of its host, and the host backend several per rank on another host. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int set_key(const struct joining *joining, const char *key, json_t *value,
                   struct error *err)
{
    char *text = json_text(value);

    if (!text)
        memory_out("connecting ranks");
    int status =
        rendezvous_client_set(joining->config->store, key, text, strlen(text), err);

    json_decref(value);
    free(text);
    return status;
}

/* Returns a new reference. */
static json_t *get_key(const struct joining *joining, const char *key, int64_t more_ms,
                       size_t most, struct error *err)
{
    struct rendezvous_client *store = joining->config->store;
    json_t *value = NULL;
    struct buf text;

    if (rendezvous_client_wait(store, &key, 1, left_ms(joining) + more_ms, err))
        return NULL;
    buf_init(&text, most);
    if (!rendezvous_client_get(store, key, &text, err))
        value = json_parse(text.data ? text.data : "", text.len, err);
    buf_release(&text);
    return value;
}

/* ---- Each rank's record ---- */

static int publish(const struct joining *joining, struct error *err)
{
    struct tree *tree = joining->tree;
    const char *address = joining->config->address;
    char hostid[HOSTID_MAX], machine[HOSTID_MAX], key[KEY_MAX], token[TOKEN_TEXT];
    char interface[ATTEMPT_INTERFACE_MAX];
    int number;

    address = address && address[0] ? address : "127.0.0.1";
    if (greeting_listen(&tree->port, address, &number, err) ||
        segment_create(&tree->segment, tree->world_size, tree->port.token, &tree->watch,
                       err))
        return -1;
    attempt_interface(tree->port.listener, interface);
    greeting_format_token(tree->port.token, token);
    snprintf(key, sizeof(key), "ringbench/rank/%d", tree->rank);
    return set_key(joining, key,
                   json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:i}", "hostid",
                             hostid_text(joining->config->hostid, hostid), "machine",
                             hostid_machine(machine), "address", address, "port", number,
                             "interface", interface, "token", token, "pid", (int)getpid(),
                             "fd", tree->segment.fd),
                   err);
}

/* ---- Rank 0's table ---- */

/* Map a text to a number. Equal texts have equal numbers; a new text gets the next
 * number. */
static int number_of(json_t *seen, const char *text)
{
    const json_t *known = json_object_get(seen, text);
    int number = known ? (int)json_integer_value(known) : (int)json_object_size(seen);

    if (!known)
        json_object_set_new(seen, text, json_integer(number));
    return number;
}

static bool is_record(const json_t *record)
{
    return json_get_str(record, "hostid", "")[0] &&
           json_get_str(record, "machine", "")[0] &&
           json_get_str(record, "address", "")[0] &&
           strlen(json_get_str(record, "token", "")) == TOKEN_TEXT - 1 &&
           json_get_int(record, "port", 0) > 0 && json_get_int(record, "pid", 0) > 0 &&
           json_get_int(record, "fd", -1) >= 0;
}

/* The first rank of a host becomes its leader. */
static void add_host(json_t *hosts, json_t *record, int leader, int machine)
{
    json_object_del(record, "hostid");
    json_object_set_new(record, "machine", json_integer(machine));
    json_object_set_new(record, "leader", json_integer(leader));
    json_array_append(hosts, record);
}

static int add_rank(const struct joining *joining, json_t *table, json_t *seen, int rank,
                    struct error *err)
{
    json_t *hosts = json_object_get(table, "hosts");
    char key[KEY_MAX];

    snprintf(key, sizeof(key), "ringbench/rank/%d", rank);
    json_t *record = get_key(joining, key, 0, RECORD_MAX, err);
    if (!record)
        return error_prefix(err, "waiting for rank %d", rank);
    if (!is_record(record)) {
        json_decref(record);
        return error_set(err, ERROR_PEER,
                         "the record of rank %d in the store is malformed", rank);
    }
    int host =
        number_of(json_object_get(seen, "hosts"), json_get_str(record, "hostid", ""));
    int machine =
        number_of(json_object_get(seen, "machines"), json_get_str(record, "machine", ""));
    if ((size_t)host == json_array_size(hosts))
        add_host(hosts, record, rank, machine);
    json_array_append_new(json_object_get(table, "host_of"), json_integer(host));
    json_decref(record);
    return 0;
}

/* Returns a new reference. */
static json_t *make_table(const struct joining *joining, struct error *err)
{
    json_t *table = json_pack("{s:[], s:[]}", "hosts", "host_of");
    json_t *seen = json_pack("{s:{}, s:{}}", "hosts", "machines");
    int status = 0;

    for (int rank = 0; !status && rank < joining->config->world_size; rank++)
        status = add_rank(joining, table, seen, rank, err);
    json_decref(seen);
    if (!status)
        status = set_key(joining, TABLE_KEY, json_incref(table), err);
    if (!status)
        return table;
    json_decref(table);
    return NULL;
}

/* ---- Reading the table ---- */

static int copy_text(const json_t *record, const char *key, char *out, size_t size)
{
    int len = snprintf(out, size, "%s", json_get_str(record, key, ""));

    return (size_t)len < size ? 0 : -1;
}

static int read_host(const json_t *record, struct tree_host *host)
{
    host->leader = (int)json_get_int(record, "leader", -1);
    host->machine = (int)json_get_int(record, "machine", -1);
    host->segment.pid = (pid_t)json_get_int(record, "pid", 0);
    host->segment.fd = (int)json_get_int(record, "fd", -1);
    snprintf(host->port, sizeof(host->port), "%d", (int)json_get_int(record, "port", 0));
    return copy_text(record, "address", host->address, sizeof(host->address)) ||
                   copy_text(record, "interface", host->interface,
                             sizeof(host->interface)) ||
                   greeting_parse_token(json_get_str(record, "token", ""),
                                        host->segment.token)
               ? -1
               : 0;
}

/* Fill in host_of, and fill `order` with the ranks grouped by host. */
static int place_ranks(struct tree *tree, const json_t *host_of)
{
    int n = 0;

    for (int rank = 0; rank < tree->world_size; rank++) {
        int host = (int)json_integer_value(json_array_get(host_of, (size_t)rank));
        if (host < 0 || host >= tree->n_hosts)
            return -1;
        tree->host_of[rank] = host;
        tree->hosts[host].n++;
    }
    for (int host = 0; host < tree->n_hosts; host++) {
        tree->hosts[host].first = n;
        n += tree->hosts[host].n;
        tree->hosts[host].n = 0;
    }
    for (int rank = 0; rank < tree->world_size; rank++) {
        struct tree_host *host = &tree->hosts[tree->host_of[rank]];
        tree->order[host->first + host->n++] = rank;
    }
    return 0;
}

static int read_table(struct tree *tree, const json_t *table, struct error *err)
{
    const json_t *hosts = json_object_get(table, "hosts");
    const json_t *host_of = json_object_get(table, "host_of");
    size_t n = (size_t)tree->world_size;
    int status = 0;

    tree->n_hosts = (int)json_array_size(hosts);
    tree->hosts = memory_zeroed(n, sizeof(*tree->hosts), "connecting ranks");
    tree->host_of = memory_zeroed(n, sizeof(*tree->host_of), "connecting ranks");
    tree->order = memory_zeroed(n, sizeof(*tree->order), "connecting ranks");
    if (tree->n_hosts < 1 || (size_t)tree->n_hosts > n || json_array_size(host_of) != n)
        status = -1;
    for (int i = 0; !status && i < tree->n_hosts; i++)
        status = read_host(json_array_get(hosts, (size_t)i), &tree->hosts[i]);
    if (status || place_ranks(tree, host_of))
        return error_set(
            err, ERROR_PEER,
            "the table of hosts that rank 0 put into the store is malformed");
    tree->host = tree->host_of[tree->rank];
    tree->is_local = tree->n_hosts == 1;
    for (int host = 0; host < tree->n_hosts; host++)
        if (tree->hosts[host].machine == tree->hosts[tree->host].machine)
            tree->machine_ranks += tree->hosts[host].n;
    watch_set_sharers(&tree->watch, tree->machine_ranks);
    return 0;
}

static int join_segment(struct tree *tree, struct error *err)
{
    const struct tree_host *host = &tree->hosts[tree->host];
    int self = 0;

    while (tree->order[host->first + self] != tree->rank)
        self++;
    return segment_join(&tree->segment, &host->segment, host->n, self, err);
}

/* ---- Between leaders ---- */

static int connect_parent(const struct joining *joining, struct error *err)
{
    struct tree *tree = joining->tree;
    struct tree_link *link = &tree->links[0];
    const struct tree_host *host = &tree->hosts[(tree->host - 1) / TREE_WAYS];
    struct attempt_place place = {host->address, host->port, host->interface};
    struct attempt_until until = {&tree->watch, joining->deadline_ns,
                                  &joining->config->observer};

    *link = (struct tree_link){(tree->host - 1) / TREE_WAYS, host->leader, -1, -1, false};
    tree->has_parent = true;
    tree->n_links = 1;
    for (int purpose = 0; purpose < PURPOSES; purpose++) {
        int *fd = purpose == PURPOSE_NOTICES ? &link->notice_fd : &link->fd;
        *fd = attempt_connect(link->rank, &place, "ranks", &until, err);
        if (*fd < 0)
            return -1;
        endpoint_send_at_once(*fd);
        endpoint_probe_peer(*fd);
        if (greeting_send(*fd, host->segment.token, tree->rank, purpose, err))
            return error_prefix(err, "rank %d", link->rank);
    }
    return 0;
}

/* Return NULL if the connection is not expected. */
static int *find_place(struct tree *tree, const struct greeting_caller *caller)
{
    for (int i = tree->has_parent; i < tree->n_links; i++) {
        struct tree_link *link = &tree->links[i];
        int *fd = caller->purpose == PURPOSE_NOTICES ? &link->notice_fd : &link->fd;
        if (link->rank == caller->rank && *fd < 0 && caller->purpose < PURPOSES)
            return fd;
    }
    return NULL;
}

static int name_missing(const struct tree *tree, struct error *err)
{
    for (int i = tree->has_parent; i < tree->n_links; i++)
        if (tree->links[i].fd < 0 || tree->links[i].notice_fd < 0)
            return error_set(err, ERROR_TIMEOUT, "rank %d has not connected in time",
                             tree->links[i].rank);
    return -1;
}

static int accept_children(const struct joining *joining, struct error *err)
{
    struct tree *tree = joining->tree;
    int left = 0;

    for (int i = 1; i <= TREE_WAYS; i++) {
        int host = tree->host * TREE_WAYS + i;
        if (host >= tree->n_hosts)
            break;
        tree->links[tree->n_links++] =
            (struct tree_link){host, tree->hosts[host].leader, -1, -1, false};
        left += PURPOSES;
    }
    while (left > 0) {
        struct greeting_caller caller;
        if (watch_check(&tree->watch))
            return watch_reason(&tree->watch, err);
        if (left_ms(joining) == 0)
            return name_missing(tree, err);
        int status = greeting_accept(&tree->port, SLICE_MS, &caller, err);
        if (status < 0)
            return -1;
        if (status == 0)
            continue;
        int *fd = find_place(tree, &caller);
        if (!fd) {
            greeting_refuse(&tree->port, caller.fd);
            continue;
        }
        endpoint_send_at_once(caller.fd);
        endpoint_probe_peer(caller.fd);
        *fd = caller.fd;
        left--;
    }
    return 0;
}

int tree_join(struct tree *tree, const struct tree_config *config, struct error *err)
{
    struct joining joining = {tree, config,
                              clock_monotonic_ns() + config->timeout_ms * 1000000};
    json_t *table;

    if (publish(&joining, err))
        return -1;
    table = tree->rank == 0 ? make_table(&joining, err)
                            : get_key(&joining, TABLE_KEY, RANK_0_MS, TABLE_MAX, err);
    if (!table)
        return tree->rank == 0 ? -1 : error_prefix(err, "waiting for rank 0");
    int status = read_table(tree, table, err);
    json_decref(table);
    if (!status && (!tree->is_local || tree->hosts[0].leader == tree->rank))
        raise_descriptor_limit();
    status = status ? status : join_segment(tree, err);
    if (!status && tree->segment.self == 0 && tree->host > 0)
        status = connect_parent(&joining, err);
    if (!status && tree->segment.self == 0)
        status = accept_children(&joining, err);
    greeting_close(&tree->port);
    return status;
}
