/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_load.c - closed-loop load on a TCPStore server of either protocol version: one
 * thread, epoll, one outstanding request per connection. Prints one JSON object. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/options.h"
#include "tests/unit/tcpstore_requests.h"

#define VALUE_BYTES 64
#define ID_BYTES 128 /* an NCCL unique id, which ranks read when they join */
#define SETS_PER_ACK 32
#define STEPS_MAX 6
#define EVENTS 256
#define HISTOGRAM_US 1000000

struct params {
    char *host, *op;
    long port, protocol, connections, repeats, duration_ms;
};

static const struct option options[] = {
    {"host", OPTION_STRING, offsetof(struct params, host), "127.0.0.1", "ADDRESS",
     "numeric IPv4 address of the server", 0, 0},
    {"port", OPTION_INT, offsetof(struct params, port), "29500", "PORT", "its port", 1,
     65535},
    {"protocol", OPTION_INT, offsetof(struct params, protocol), "2", "1|2",
     "version of the protocol", 1, 2},
    {"op", OPTION_STRING, offsetof(struct params, op), "get", "OP",
     "get, wget (wait and get), add, set (32 and an answer), check, cas or join", 0, 0},
    {"connections", OPTION_INT, offsetof(struct params, connections), "64", "N",
     "connections, or clients that join", 1, 20000},
    {"duration-ms", OPTION_INT, offsetof(struct params, duration_ms), "2000", "MS",
     "time to measure for", 10, 600000},
    {"repeats", OPTION_INT, offsetof(struct params, repeats), "9", "N",
     "times that all clients join", 1, 1000},
    {NULL, OPTION_FLAG, 0, NULL, NULL, NULL, 0, 0}};

struct step {
    struct buf request;
    size_t reply_bytes;
};

struct conn {
    int fd;
    int step;
    size_t received;
    int64_t sent_ns;
    bool is_done;
};

struct load {
    struct params params;
    struct sockaddr_in address;
    struct step steps[STEPS_MAX];
    int n_steps;
    /* join: the step with the ADD whose reply shows which client is last; else -1 */
    int counter_step;
    /* join: the SET that only the last client sends, after its ADD */
    struct buf last_words;
    int ops_per_round;
    int epoll;
    struct conn *conns;
    uint32_t *histogram; /* number of replies per latency in microseconds */
    uint64_t rounds;
    long done;
    char reply[65536];
};

static void die(const char *what)
{
    fprintf(stderr, "tcpstore_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* A query's number in the selected protocol version. */
static int query(const struct load *load, int v2_type)
{
    return load->params.protocol == 2 ? v2_type : v2_type - 1;
}

static struct step *add_step(struct load *load, size_t reply_bytes)
{
    struct step *step = &load->steps[load->n_steps++];

    buf_init(&step->request, REQUEST_MAX);
    step->reply_bytes = reply_bytes;
    return step;
}

/* ---- Requests ---- */

static int build_set(struct load *load)
{
    struct step *step = add_step(load, 8);

    for (int i = 0; i < SETS_PER_ACK; i++)
        put_request(&step->request, query(load, 1), "sz", "/key", (uint64_t)VALUE_BYTES);
    put_request(&step->request, query(load, 7), "");
    return SETS_PER_ACK;
}

static int build_ops(struct load *load)
{
    const char *op = load->params.op;

    if (!strcmp(op, "set"))
        return build_set(load);
    if (!strcmp(op, "wget"))
        put_request(&add_step(load, 1)->request, query(load, 6), "qs", N(1), "/key");
    if (!strcmp(op, "get") || !strcmp(op, "wget"))
        put_request(&add_step(load, 8 + VALUE_BYTES)->request, query(load, 3), "s",
                    "/key");
    else if (!strcmp(op, "add"))
        put_request(&add_step(load, 8)->request, query(load, 4), "sq", "/n", N(1));
    else if (!strcmp(op, "check"))
        put_request(&add_step(load, 1)->request, query(load, 5), "qs", N(1), "/key");
    else if (!strcmp(op, "cas"))
        put_request(&add_step(load, 8 + VALUE_BYTES)->request, query(load, 2), "szz",
                    "/key", (uint64_t)VALUE_BYTES, (uint64_t)VALUE_BYTES);
    return load->n_steps ? 1 : -1;
}

/* Use new keys in each round. */
static void build_join(struct load *load, int round)
{
    char counter[32], key[32];

    for (int i = 0; i < load->n_steps; i++)
        buf_release(&load->steps[i].request);
    buf_release(&load->last_words);
    load->n_steps = 0;
    snprintf(counter, sizeof(counter), "/count/%d", round);
    snprintf(key, sizeof(key), "/id/%d", round);
    if (load->params.protocol == 2) {
        struct step *hello = add_step(load, 4);
        put_hello(&hello->request);
        put_request(&hello->request, 13, "u", 1u);
    }
    load->counter_step = load->n_steps;
    put_request(&add_step(load, 8)->request, query(load, 4), "sq", counter, N(1));
    put_request(&add_step(load, 1)->request, query(load, 6), "qs", N(1), key);
    put_request(&add_step(load, 8 + ID_BYTES)->request, query(load, 3), "s", key);
    buf_init(&load->last_words, REQUEST_MAX);
    put_request(&load->last_words, query(load, 1), "sz", key, (uint64_t)ID_BYTES);
}

/* ---- Connections ---- */

static void send_all(int fd, const struct buf *bytes)
{
    if (send(fd, bytes->data, bytes->len, MSG_NOSIGNAL) != (ssize_t)bytes->len)
        die("send");
}

static int open_socket(int flags)
{
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

    if (fd < 0)
        die("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static void watch(struct load *load, struct conn *conn, uint32_t events, int op)
{
    struct epoll_event event = {.events = events, .data.ptr = conn};

    if (epoll_ctl(load->epoll, op, conn->fd, &event) < 0)
        die("epoll_ctl");
}

static void begin_step(struct load *load, struct conn *conn)
{
    conn->received = 0;
    send_all(conn->fd, &load->steps[conn->step].request);
}

/* Connect a client, send the greeting, and store a value under the key. */
static void connect_one(struct load *load, struct conn *conn)
{
    struct buf hello;

    conn->fd = open_socket(0);
    if (connect(conn->fd, (struct sockaddr *)&load->address, sizeof(load->address)) < 0)
        die("connect");
    buf_init(&hello, REQUEST_MAX);
    if (load->params.protocol == 2)
        put_hello(&hello);
    put_request(&hello, query(load, 1), "sz", "/key", (uint64_t)VALUE_BYTES);
    send_all(conn->fd, &hello);
    buf_release(&hello);
    watch(load, conn, EPOLLIN, EPOLL_CTL_ADD);
}

/* ---- Rounds ---- */

static void record(struct load *load, int64_t ns)
{
    int64_t us = ns / 1000;

    load->histogram[us < HISTOGRAM_US ? us : HISTOGRAM_US - 1]++;
    load->rounds++;
}

static void finish_step(struct load *load, struct conn *conn)
{
    bool is_join = load->counter_step >= 0;
    int64_t count;

    if (conn->step == load->counter_step) {
        memcpy(&count, load->reply, sizeof(count));
        if (count == load->params.connections)
            send_all(conn->fd, &load->last_words);
    }
    conn->step++;
    if (conn->step < load->n_steps) {
        begin_step(load, conn);
        return;
    }
    if (is_join) {
        conn->is_done = true;
        load->done++;
        return;
    }
    record(load, clock_monotonic_ns() - conn->sent_ns);
    conn->step = 0;
    conn->sent_ns = clock_monotonic_ns();
    begin_step(load, conn);
}

static void on_readable(struct load *load, struct conn *conn)
{
    size_t wanted = load->steps[conn->step].reply_bytes - conn->received;
    ssize_t n = recv(conn->fd, load->reply + conn->received, wanted, MSG_DONTWAIT);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        die("the server closed a connection");
    conn->received += (size_t)n;
    if ((size_t)n == wanted)
        finish_step(load, conn);
}

static void on_event(struct load *load, const struct epoll_event *event)
{
    struct conn *conn = event->data.ptr;

    if (conn->is_done)
        return;
    if (event->events & EPOLLOUT) {
        watch(load, conn, EPOLLIN, EPOLL_CTL_MOD);
        begin_step(load, conn);
    } else {
        on_readable(load, conn);
    }
}

static void turn(struct load *load)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(load->epoll, events, EVENTS, 10000);

    if (n == 0) {
        errno = ETIMEDOUT;
        die("the server does not answer");
    }
    for (int i = 0; i < n; i++)
        on_event(load, &events[i]);
}

static int64_t quantile_us(const struct load *load, double q)
{
    uint64_t left = (uint64_t)((double)load->rounds * q);
    int64_t us = 0;

    while (us < HISTOGRAM_US - 1 && load->histogram[us] <= left)
        left -= load->histogram[us++];
    return us;
}

static void measure_ops(struct load *load)
{
    int64_t start_ns, end_ns;

    for (long i = 0; i < load->params.connections; i++)
        connect_one(load, &load->conns[i]);
    start_ns = clock_monotonic_ns();
    for (long i = 0; i < load->params.connections; i++) {
        load->conns[i].sent_ns = clock_monotonic_ns();
        begin_step(load, &load->conns[i]);
    }
    end_ns = start_ns + load->params.duration_ms * 1000000;
    while (clock_monotonic_ns() < end_ns)
        turn(load);
    end_ns = clock_monotonic_ns();
    printf("{\"op\":\"%s\",\"connections\":%ld,\"ops_per_s\":%.0f,\"p50_us\":%lld,"
           "\"p99_us\":%lld}\n",
           load->params.op, load->params.connections,
           (double)load->rounds * load->ops_per_round * 1e9 / (double)(end_ns - start_ns),
           (long long)quantile_us(load, 0.5), (long long)quantile_us(load, 0.99));
}

/* Return the time from the first connect to the last value. */
static double join_once(struct load *load, int round)
{
    int64_t start_ns;

    build_join(load, round);
    load->done = 0;
    start_ns = clock_monotonic_ns();
    for (long i = 0; i < load->params.connections; i++) {
        struct conn *conn = &load->conns[i];
        memset(conn, 0, sizeof(*conn));
        conn->fd = open_socket(SOCK_NONBLOCK);
        if (connect(conn->fd, (struct sockaddr *)&load->address, sizeof(load->address)) <
                0 &&
            errno != EINPROGRESS)
            die("connect");
        watch(load, conn, EPOLLOUT, EPOLL_CTL_ADD);
    }
    while (load->done < load->params.connections)
        turn(load);
    start_ns = clock_monotonic_ns() - start_ns;
    for (long i = 0; i < load->params.connections; i++)
        close(load->conns[i].fd);
    return (double)start_ns / 1e6;
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure_join(struct load *load)
{
    long n = load->params.repeats;
    double *ms = calloc((size_t)n, sizeof(*ms));

    for (long i = 0; i < n; i++)
        ms[i] = join_once(load, (int)getpid() * 1000 + (int)i);
    qsort(ms, (size_t)n, sizeof(*ms), compare_ms);
    printf("{\"op\":\"join\",\"connections\":%ld,\"min_ms\":%.2f,\"median_ms\":%.2f,"
           "\"max_ms\":%.2f}\n",
           load->params.connections, ms[0], ms[n / 2], ms[n - 1]);
    free(ms);
}

static int load_init(struct load *load)
{
    const struct rlimit files = {65536, 65536};

    setrlimit(RLIMIT_NOFILE, &files);
    load->address.sin_family = AF_INET;
    load->address.sin_port = htons((uint16_t)load->params.port);
    load->epoll = epoll_create1(0);
    load->conns = calloc((size_t)load->params.connections, sizeof(*load->conns));
    load->histogram = calloc(HISTOGRAM_US, sizeof(*load->histogram));
    load->counter_step = -1;
    if (load->epoll < 0 || !load->conns || !load->histogram)
        return -1;
    return inet_pton(AF_INET, load->params.host, &load->address.sin_addr) == 1 ? 0 : -1;
}

static void load_release(struct load *load)
{
    for (int i = 0; i < load->n_steps; i++)
        buf_release(&load->steps[i].request);
    buf_release(&load->last_words);
    free(load->histogram);
    free(load->conns);
    close(load->epoll);
    options_release(options, &load->params);
}

int main(int argc, char **argv)
{
    static struct load load;
    struct error err;
    int rc = options_parse("tcpstore_load", "Put load on a TCPStore server.", options,
                           &load.params, argc, argv, &err);

    if (rc != 0) {
        if (rc < 0)
            fprintf(stderr, "tcpstore_load: %s\n", err.text);
        return rc < 0;
    }
    if (load_init(&load) < 0)
        die("cannot start");
    if (!strcmp(load.params.op, "join")) {
        measure_join(&load);
    } else {
        load.ops_per_round = build_ops(&load);
        if (load.ops_per_round < 0) {
            errno = EINVAL;
            die(load.params.op);
        }
        measure_ops(&load);
    }
    load_release(&load);
    return 0;
}
