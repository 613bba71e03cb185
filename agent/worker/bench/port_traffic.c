/* port_traffic.c - what the network ports carried in the timed part of a row */
#include "agent/worker/bench/port_traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "agent/worker/base/ports.h"
#include "common/base/fnv.h"
#include "common/base/order_stat.h"
#include "common/base/this_machine.h"
#include "common/spec/crossing.h"

#define NAMED_MAX 64       /* ports of different names in a case */
#define LISTED_LEAST 0.005 /* of what is to be moved: else a port is not listed */
#define DEVIATES 0.5       /* from the median, as a part of it */
#define NOTHING 0.1        /* as good as */
#define DEVIATING_MAX 8

/* What a rank tells of itself, and of its machine if it reads the counters. */
struct ports_of_rank {
    uint64_t network;
    int64_t n;
    struct port_name names[PORTS_MAX];
};

/* And of a row; `ports` has n_most of them. */
struct share_of_rank {
    double sent, received;   /* its part of what its machine is to move */
    struct port_bytes links; /* of its device */
    struct port_bytes ports[];
};

struct machine {
    int rank; /* that reads its counters */
    uint64_t network;
    int n_ports;
    int named[PORTS_MAX]; /* of each port */
    struct crossing due;  /* of the row */
    struct port_bytes carried;
};

struct port_traffic {
    struct ports ports; /* of the rank that reads them */
    struct port_bytes before[PORTS_MAX], links_before;
    int n, *machine_of; /* by rank */
    struct machine *machines;
    int n_machines, n_most; /* most: ports of a machine */
    int *places;            /* scratch: by rank of a group */
    int *seen, n_seen;      /* and the count in which a place was last met, by place */
    int n_named;
    struct port_name named[NAMED_MAX];
    bool has_row; /* the last one was counted */
    struct share_of_rank *own;
    char *all; /* of each rank: share_size() bytes */
};

static size_t share_size(const struct port_traffic *traffic)
{
    return sizeof(*traffic->own) + (size_t)traffic->n_most * sizeof(struct port_bytes);
}

static const struct share_of_rank *share_of(const struct port_traffic *traffic, int rank)
{
    return (const void *)(traffic->all + (size_t)rank * share_size(traffic));
}

/* ---- Of a case ---- */

/* Ranks whose ports are the same: of one boot and one network namespace. */
static uint64_t network_here(void)
{
    char boot[64];
    struct stat info;
    uint64_t hash;

    this_machine_boot_id(boot, sizeof(boot));
    hash = fnv1a(FNV1A_BEGIN, boot, strlen(boot));
    if (stat("/proc/self/ns/net", &info) == 0)
        hash = fnv1a(hash, &info.st_ino, sizeof(info.st_ino));
    return hash;
}

/* The machine of a rank, or a new one; neighbours mostly share it. */
static int find_machine(struct port_traffic *traffic, int rank, uint64_t network)
{
    for (int i = traffic->n_machines - 1; i >= 0; i--)
        if (traffic->machines[i].network == network)
            return i;
    traffic->machines[traffic->n_machines] =
        (struct machine){.rank = rank, .network = network};
    return traffic->n_machines++;
}

static int find_machines(struct bench *bench, struct port_traffic *traffic,
                         struct error *err)
{
    uint64_t own = network_here(), *all = calloc((size_t)traffic->n, sizeof(*all));
    int status = all ? bench_allgather(bench, &own, sizeof(own), all, err)
                     : error_set(err, ERROR_MEMORY, "ports: out of memory");

    for (int i = 0; !status && i < traffic->n; i++)
        traffic->machine_of[i] = find_machine(traffic, i, all[i]);
    free(all);
    return status;
}

/* The number of the port's name, -1 when there are too many. */
static int find_name(struct port_traffic *traffic, const struct port_name *name)
{
    for (int i = 0; i < traffic->n_named; i++)
        if (memcmp(&traffic->named[i], name, sizeof(*name)) == 0)
            return i;
    if (traffic->n_named == NAMED_MAX)
        return -1;
    traffic->named[traffic->n_named] = *name;
    return traffic->n_named++;
}

static void take_ports(struct port_traffic *traffic, const struct ports_of_rank *all)
{
    for (int i = 0; i < traffic->n_machines; i++) {
        struct machine *machine = &traffic->machines[i];
        const struct ports_of_rank *told = &all[machine->rank];

        machine->n_ports = (int)told->n;
        for (int k = 0; k < machine->n_ports; k++)
            machine->named[k] = find_name(traffic, &told->names[k]);
        traffic->n_most =
            machine->n_ports > traffic->n_most ? machine->n_ports : traffic->n_most;
    }
}

static int find_ports(struct bench *bench, struct port_traffic *traffic,
                      struct error *err)
{
    struct ports_of_rank *all = calloc((size_t)traffic->n, sizeof(*all));
    struct ports_of_rank *own = calloc(1, sizeof(*own));
    int status = all && own ? 0 : error_set(err, ERROR_MEMORY, "ports: out of memory");

    if (traffic->machines[traffic->machine_of[bench->rank]].rank == bench->rank)
        ports_open(&traffic->ports, "");
    for (int i = 0; !status && i < traffic->ports.n; i++)
        own->names[own->n++] = traffic->ports.of[i].name;
    if (!status)
        status = bench_allgather(bench, own, sizeof(*own), all, err);
    if (!status)
        take_ports(traffic, all);
    free(all);
    free(own);
    return status;
}

static int allocate(struct port_traffic *traffic)
{
    size_t n = (size_t)traffic->n;

    traffic->machine_of = calloc(n, sizeof(*traffic->machine_of));
    traffic->places = calloc(n, sizeof(*traffic->places));
    traffic->seen = calloc(n, sizeof(*traffic->seen));
    traffic->machines = calloc(n, sizeof(*traffic->machines));
    return traffic->machine_of && traffic->places && traffic->seen && traffic->machines
               ? 0
               : -1;
}

int port_traffic_create(struct bench *bench, struct port_traffic **out, struct error *err)
{
    struct port_traffic *traffic;

    if (bench->backend->is_simulated || bench->file->world_size < 2)
        return 0;
    *out = traffic = calloc(1, sizeof(*traffic));
    if (!traffic)
        return error_set(err, ERROR_MEMORY, "ports: out of memory");
    traffic->n = bench->file->world_size;
    if (allocate(traffic))
        return error_set(err, ERROR_MEMORY, "ports: out of memory");
    if (find_machines(bench, traffic, err) || find_ports(bench, traffic, err))
        return -1;
    traffic->own = calloc(1, share_size(traffic));
    traffic->all = calloc((size_t)traffic->n, share_size(traffic));
    return traffic->own && traffic->all
               ? 0
               : error_set(err, ERROR_MEMORY, "ports: out of memory");
}

void port_traffic_destroy(struct port_traffic *traffic)
{
    if (!traffic)
        return;
    ports_close(&traffic->ports);
    free(traffic->machine_of);
    free(traffic->places);
    free(traffic->seen);
    free(traffic->machines);
    free(traffic->own);
    free(traffic->all);
    free(traffic);
}

/* ---- Of a row ---- */

/* The same on all ranks. */
static bool is_counted(const struct port_traffic *traffic, const struct bench_row *row)
{
    return traffic && traffic->n_most > 0 && row->row.size >= PORT_TRAFFIC_LEAST;
}

static int count_places(struct port_traffic *traffic, int n)
{
    int places = 0;

    traffic->n_seen++;
    for (int i = 0; i < n; i++) {
        int *seen = &traffic->seen[traffic->places[i]];

        places += *seen != traffic->n_seen;
        *seen = traffic->n_seen;
    }
    return places;
}

/* The row's call, among the places of the row's group: machines, or ranks where all are
 * on one. */
static struct crossing_call call_of(const struct bench *bench,
                                    const struct bench_row *row)
{
    const struct split_groups *groups = &bench->file->groups;
    struct port_traffic *traffic = bench->traffic;
    int group = row->row.group;

    for (int i = 0; i < traffic->n; i++)
        if (groups->of[i] == group)
            traffic->places[groups->place[i]] =
                traffic->n_machines > 1 ? traffic->machine_of[i] : i;
    return (struct crossing_call){
        .kind = row->row.collective,
        .bytes = row->layout.count * dtype_size(row->row.dtype),
        .n = groups->sizes[group],
        .root = row->row.root,
        .places = traffic->places,
        .n_places = count_places(traffic, groups->sizes[group]),
        .traffic = row->traffic,
        .element = dtype_size(row->row.dtype),
    };
}

/* Nothing where they don't tell. */
static struct port_bytes read_links(const struct bench *bench)
{
    struct port_bytes links = {0, 0};

    if (bench->backend->link_bytes &&
        !bench->backend->link_bytes(bench->comm, &links.sent, &links.received))
        links = (struct port_bytes){0, 0};
    return links;
}

int port_traffic_begin(struct bench *bench, const struct bench_row *row,
                       struct error *err)
{
    struct port_traffic *traffic = bench->traffic;

    if (!is_counted(traffic, row))
        return 0;
    if (bench_barrier(bench, err))
        return -1;
    ports_read(&traffic->ports, traffic->before);
    traffic->links_before = read_links(bench);
    return 0;
}

/* What the machines were to move, and did. */
static void add_up(struct port_traffic *traffic)
{
    for (int i = 0; i < traffic->n_machines; i++) {
        struct machine *machine = &traffic->machines[i];
        const struct share_of_rank *share = share_of(traffic, machine->rank);

        machine->due = (struct crossing){0, 0};
        machine->carried = (struct port_bytes){0, 0};
        for (int k = 0; k < machine->n_ports; k++) {
            machine->carried.sent += share->ports[k].sent;
            machine->carried.received += share->ports[k].received;
        }
    }
    for (int i = 0; i < traffic->n; i++) {
        struct machine *machine = &traffic->machines[traffic->machine_of[i]];

        machine->due.sent += share_of(traffic, i)->sent;
        machine->due.received += share_of(traffic, i)->received;
    }
}

int port_traffic_end(struct bench *bench, const struct bench_row *row, long calls,
                     struct error *err)
{
    struct port_traffic *traffic = bench->traffic;
    struct port_bytes now[PORTS_MAX];
    struct crossing due = {0, 0};

    if (traffic)
        traffic->has_row = is_counted(traffic, row);
    if (!traffic || !traffic->has_row)
        return 0;
    if (bench_barrier(bench, err))
        return -1;
    ports_read(&traffic->ports, now);
    ports_since(&traffic->ports, traffic->before, now);
    traffic->own->links = port_bytes_since(traffic->links_before, read_links(bench));
    if (!row->is_idle) {
        struct crossing_call call = call_of(bench, row);

        due = crossing_of(&call, bench_place(bench));
    }
    traffic->own->sent = due.sent * (double)calls;
    traffic->own->received = due.received * (double)calls;
    memcpy(traffic->own->ports, now,
           (size_t)traffic->n_most * sizeof(*traffic->own->ports));
    if (bench_allgather(bench, traffic->own, share_size(traffic), traffic->all, err))
        return -1;
    if (bench->rank == 0)
        add_up(traffic);
    return 0;
}

/* ---- What is said of it ---- */

static double sum_of(struct crossing due)
{
    return due.sent + due.received;
}

static double carried_of(const struct machine *machine)
{
    return (double)machine->carried.sent + (double)machine->carried.received;
}

/* How much of what they are to move the ports of each machine carried, in rising order;
 * how many there are that are to move something. */
static size_t shares_of(const struct port_traffic *traffic, double scale, double *shares)
{
    size_t n = 0;

    for (int i = 0; i < traffic->n_machines; i++) {
        double due = sum_of(traffic->machines[i].due) * scale;

        if (due > 0)
            shares[n++] = carried_of(&traffic->machines[i]) / due;
    }
    order_stat_sort(shares, n);
    return n;
}

static json_t *deviating(const struct port_traffic *traffic, double scale, double median)
{
    json_t *list = json_array();

    for (int i = 0; i < traffic->n_machines; i++) {
        const struct machine *machine = &traffic->machines[i];
        double due = sum_of(machine->due) * scale;
        double share = due > 0 ? carried_of(machine) / due : median;

        if (json_array_size(list) < DEVIATING_MAX &&
            fabs(share - median) > DEVIATES * fmax(median, NOTHING))
            json_array_append_new(
                list, json_pack("{s:i, s:f}", "rank", machine->rank, "share", share));
    }
    return list;
}

/* Of several machines, each by itself. */
static void add_machines(const struct port_traffic *traffic, double scale, json_t *out)
{
    double *shares = calloc((size_t)traffic->n_machines, sizeof(*shares));
    size_t n = shares ? shares_of(traffic, scale, shares) : 0;

    if (n > 0) {
        json_object_set_new(out, "least", json_real(shares[0]));
        json_object_set_new(out, "median", json_real(shares[(n - 1) / 2]));
        json_object_set_new(out, "most", json_real(shares[n - 1]));
        json_object_set_new(out, "deviating",
                            deviating(traffic, scale, shares[(n - 1) / 2]));
    }
    free(shares);
}

/* By machine and number of a port's name: what went through it; to be freed, NULL without
 * memory. */
static struct port_bytes *by_name(const struct port_traffic *traffic)
{
    size_t n_named = (size_t)traffic->n_named;
    struct port_bytes *table =
        calloc((size_t)traffic->n_machines * n_named + 1, sizeof(*table));

    for (int i = 0; table && i < traffic->n_machines; i++) {
        const struct machine *machine = &traffic->machines[i];
        const struct share_of_rank *share = share_of(traffic, machine->rank);

        for (int k = 0; k < machine->n_ports; k++)
            if (machine->named[k] >= 0)
                table[(size_t)i * n_named + (size_t)machine->named[k]] = share->ports[k];
    }
    return table;
}

/* One port, of all machines; each one's bytes behind those of the ports before. */
static void add_port(const struct port_traffic *traffic, int named,
                     const struct port_bytes *table, double least, json_t *ports,
                     json_t *bytes)
{
    const struct port_name *name = &traffic->named[named];
    struct port_bytes sum = {0, 0};

    for (int i = 0; i < traffic->n_machines; i++) {
        sum.sent += table[i * traffic->n_named + named].sent;
        sum.received += table[i * traffic->n_named + named].received;
    }
    if ((double)sum.sent + (double)sum.received <= least)
        return;
    json_array_append_new(ports,
                          json_pack("{s:s, s:s, s:I, s:I}", "kind",
                                    port_kind_name((enum port_kind)name->kind), "name",
                                    name->text, "sent_bytes", (json_int_t)sum.sent,
                                    "received_bytes", (json_int_t)sum.received));
    for (int i = 0; i < traffic->n_machines; i++) {
        const struct port_bytes *one = &table[i * traffic->n_named + named];

        json_array_append_new(bytes, json_real((double)one->sent));
        json_array_append_new(bytes, json_real((double)one->received));
    }
}

/* The ports that carried some of it, and what each did on each machine, in that order. */
static void add_ports(const struct port_traffic *traffic, double whole, json_t *out,
                      json_t *result)
{
    json_t *ports = json_array(), *bytes = json_array();
    struct port_bytes *table = by_name(traffic);

    for (int named = 0; table && named < traffic->n_named; named++)
        add_port(traffic, named, table, LISTED_LEAST * whole, ports, bytes);
    free(table);
    json_object_set_new(out, "ports", ports);
    json_object_set_new(result, "traffic_bytes", bytes);
}

/* What NVLinks carried, within nodes and, where they reach so far, between them. */
static void add_links(const struct port_traffic *traffic, json_t *out)
{
    uint64_t sent = 0;

    for (int i = 0; i < traffic->n; i++)
        sent += share_of(traffic, i)->links.sent;
    if (sent > 0)
        json_object_set_new(out, "nvlink_bytes", json_integer((json_int_t)sent));
}

static bool can_be_tree(const struct bench *bench, const struct bench_row *row)
{
    return row->row.collective == COLLECTIVE_ALL_REDUCE && bench->file->groups.n == 1;
}

/* What was reckoned for a ring, if NCCL took a tree and did not say so. */
static void add_tree(const struct bench *bench, const struct bench_row *row, double share,
                     json_t *out)
{
    struct crossing_call call = call_of(bench, row);

    if (bench->backend->is_async && bench->traffic->n_machines > 1 &&
        can_be_tree(bench, row))
        json_object_set_new(out, "share_if_tree",
                            json_real(share / crossing_of_tree(&call)));
}

/* How the row's calls are done, as far as it is known how much each way moves; NULL where
 * it is not. *scale: beside what was reckoned for a ring. */
static const char *way_of(const struct bench *bench, const struct bench_row *row,
                          const char *algorithm, double *scale)
{
    static const char *const names[] = {[CROSSING_RING] = "ring",
                                        [CROSSING_CHAIN] = "chain",
                                        [CROSSING_DIRECT] = "direct"};
    struct crossing_call call = call_of(bench, row);
    enum crossing_way way = crossing_way(&call);

    *scale = 1;
    if (way == CROSSING_UNKNOWN)
        return NULL;
    if (way == CROSSING_DIRECT || !*algorithm || strcasecmp(algorithm, "ring") == 0)
        return names[way];
    if (strcasecmp(algorithm, "tree") != 0 || !can_be_tree(bench, row))
        return NULL;
    *scale = crossing_of_tree(&call);
    return "tree";
}

void port_traffic_report(const struct bench *bench, const struct bench_row *row,
                         const char *algorithm, json_t *result)
{
    const struct port_traffic *traffic = bench->traffic;
    double due = 0, carried = 0, moved = 0, scale;
    const char *way;
    json_t *out;

    if (!traffic || !traffic->has_row)
        return;
    way = way_of(bench, row, algorithm, &scale);
    for (int i = 0; i < traffic->n_machines; i++) {
        due += sum_of(traffic->machines[i].due) * scale;
        moved += traffic->machines[i].due.sent * scale;
        carried += carried_of(&traffic->machines[i]);
    }
    out = json_pack("{s:i}", "nodes", traffic->n_machines);
    if (way)
        json_object_set_new(out, "way", json_string(way));
    if (way && due > 0) {
        json_object_set_new(out, "moved_bytes", json_integer((json_int_t)moved));
        json_object_set_new(out, "share", json_real(carried / due));
        if (!*algorithm)
            add_tree(bench, row, carried / due, out);
    }
    if (way && strcmp(way, "chain") != 0 && traffic->n_machines > 1)
        add_machines(traffic, scale, out);
    add_ports(traffic, fmax(due, carried), out, result);
    add_links(traffic, out);
    json_object_set_new(result, "traffic", out);
}
