/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.c - a server with one handler per behaviour, and a client that sees bytes
 */
#include "http_fixture.h"
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

/* ---- handlers: all on the server's thread ---- */

static void on_ok(struct http_request *request, void *arg)
{
    (void)arg;
    http_reply_text(request, 200, "text/plain", "ok\n", 3);
}

/* What a handler has of a value that it could not make. */
static void on_none(struct http_request *request, void *arg)
{
    (void)arg;
    http_reply_json(request, 200, NULL);
}

static void on_inspect(struct http_request *request, void *arg)
{
    static const char *const types[] = {"application/json", "text/plain",
                                        "text/event-stream", NULL};

    (void)arg;
    http_reply_json(request, 200,
                    json_pack("{s:s?, s:s?, s:i, s:s?}", "id",
                              http_request_param(request, "id"), "q",
                              http_request_query(request, "q"), "accepts",
                              http_request_accepts(request, types), "x",
                              http_request_header(request, "X-Test")));
}

static void on_echo(struct http_request *request, void *arg)
{
    size_t len;
    const char *body = http_request_body(request, &len);

    (void)arg;
    http_reply_header(request, "X-Seen", "yes");
    http_reply_text(request, 201, "application/octet-stream", body, len);
}

#define SMALL_BODY 1000

static void on_length(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    size_t len;

    if (++fixture->bodies_in_turn > fixture->most_bodies_per_turn)
        fixture->most_bodies_per_turn = fixture->bodies_in_turn;
    http_request_body(request, &len);
    fixture->bodies++;
    if (len < SMALL_BODY)
        fixture->small_body = fixture->bodies;
    if (fixture->bodies == fixture->held_body) {
        sem_post(&fixture->on_held);
        fixture_wait(&fixture->release, 1, WAIT_S);
    }
    poll(NULL, 0, fixture->body_ms);
    http_reply_json(request, 200, json_pack("{s:I}", "length", (json_int_t)len));
}

/* What comes in the meantime is there all at once in the next turn. */
static void on_hold(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;

    sem_post(&fixture->on_held);
    fixture_wait(&fixture->release, 1, WAIT_S);
    http_reply_empty(request, 204);
}

static void on_delete(struct http_request *request, void *arg)
{
    (void)arg;
    http_reply_empty(request, 204);
}

static void on_fail(struct http_request *request, void *arg)
{
    struct error err;

    (void)arg;
    error_set(&err, ERROR_CONFLICT, "it is busy");
    http_reply_error(request, &err);
}

static void add_value(void *arg, const char *value)
{
    json_array_append_new(arg, json_string(value));
}

static void on_each(struct http_request *request, void *arg)
{
    json_t *values = json_array();

    (void)arg;
    http_request_query_each(request, "v", add_value, values);
    http_reply_json(request, 200, values);
}

static void parked_gone(void *data)
{
    struct parked *parked = data, **link = &parked->fixture->parked;
    struct fixture *fixture = parked->fixture;

    while (*link != parked)
        link = &(*link)->next;
    *link = parked->next;
    free(parked);
    sem_post(&fixture->on_gone);
}

static void on_park(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    struct parked *parked = calloc(1, sizeof(*parked));

    parked->fixture = fixture;
    parked->request = request;
    parked->next = fixture->parked;
    fixture->parked = parked;
    http_request_park(request, parked_gone, parked);
    sem_post(&fixture->on_parked);
}

static void on_wake(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    int n = 0;

    while (fixture->parked) {
        struct parked *parked = fixture->parked;

        fixture->parked = parked->next;
        http_reply_text(parked->request, 200, "text/plain", "woken\n", 6);
        free(parked);
        n++;
    }
    http_reply_json(request, 200, json_pack("{s:i}", "woken", n));
}

/* The same with n bytes for each, in turn. */
static void on_wake_in_turn(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    size_t len = strtoul(http_request_param(request, "n"), NULL, 10);
    char *text = malloc(len);

    memset(text, 'x', len);
    while (fixture->parked) {
        struct parked *parked = fixture->parked;

        fixture->parked = parked->next;
        http_request_park(parked->request, NULL, NULL);
        http_reply_json_in_turn(parked->request, 200, json_stringn(text, len));
        free(parked);
    }
    free(text);
    http_reply_empty(request, 204);
}

struct delayed {
    uv_timer_t timer;
    struct http_request *request;
};

static void delayed_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void delayed_fire(uv_timer_t *timer)
{
    struct delayed *delayed = timer->data;

    http_reply_text(delayed->request, 200, "text/plain", "late\n", 5);
    uv_close((uv_handle_t *)timer, delayed_closed);
}

static void on_slow(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    struct delayed *delayed = calloc(1, sizeof(*delayed));

    delayed->request = request;
    delayed->timer.data = delayed;
    uv_timer_init(&fixture->loop, &delayed->timer);
    uv_timer_start(&delayed->timer, delayed_fire, 30, 0);
}

/* Answered by fixture_stop, after the server closed. */
static void on_unparked(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;

    fixture->late = request;
    sem_post(&fixture->on_parked);
}

static void stream_gone(void *data)
{
    struct fixture *fixture = data;

    poll(NULL, 0, fixture->gone_ms);
    fixture->open_stream = NULL;
    sem_post(&fixture->on_gone);
}

static void on_open(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    struct http_stream *stream =
        http_stream_begin(request, 200, "text/event-stream", stream_gone, fixture);

    if (!stream)
        return;
    fixture->open_stream = stream;
    http_stream_write(stream, ": hello\n\n", 9);
    sem_post(&fixture->on_stream);
}

static void on_publish(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;

    if (fixture->open_stream)
        http_stream_write(fixture->open_stream, "data: x\n\n", 9);
    http_reply_empty(request, fixture->open_stream ? 204 : 409);
}

/* 10,000 writes spread over turns of the loop. */
struct burst {
    uv_timer_t timer;
    struct http_stream *stream;
    int next, total;
};

static void burst_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void burst_gone(void *data)
{
    struct burst *burst = data;

    uv_close((uv_handle_t *)&burst->timer, burst_closed);
}

static void burst_tick(uv_timer_t *timer)
{
    struct burst *burst = timer->data;

    for (int i = 0; i < 97 && burst->next < burst->total; i++) {
        char line[32];
        int n = snprintf(line, sizeof(line), "%d\n", burst->next++);

        http_stream_write(burst->stream, line, (size_t)n);
    }
    if (burst->next < burst->total)
        return;
    http_stream_end(burst->stream);
    uv_close((uv_handle_t *)timer, burst_closed);
}

static void on_burst(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    struct burst *burst = calloc(1, sizeof(*burst));

    burst->stream = http_stream_begin(request, 200, "text/plain", burst_gone, burst);
    if (!burst->stream) {
        free(burst); /* HEAD */
        return;
    }
    burst->total = 10000;
    burst->timer.data = burst;
    uv_timer_init(&fixture->loop, &burst->timer);
    uv_timer_start(&burst->timer, burst_tick, 0, 1);
}

static void partial_gone(void *data)
{
    (void)data;
}

/* Half of an answer. */
static void on_partial(struct http_request *request, void *arg)
{
    struct http_stream *stream =
        http_stream_begin(request, 200, "text/plain", partial_gone, NULL);

    (void)arg;
    http_stream_write(stream, "half\n", 5);
    http_stream_abort(stream);
}

/* 32 MiB, of which at most FIXTURE_PACED_LIMIT and one block are queued. */
struct paced {
    struct fixture *fixture;
    struct http_stream *stream;
    size_t left;
};

static void paced_fill(void *data)
{
    static const char block[65536] = {'x'};
    struct paced *paced = data;
    size_t queued = http_stream_queued(paced->stream);

    while (paced->left > 0 && queued < FIXTURE_PACED_LIMIT) {
        queued = http_stream_write(paced->stream, block, sizeof(block));
        paced->left -= sizeof(block);
        if (queued > paced->fixture->max_queued)
            paced->fixture->max_queued = queued;
    }
    if (paced->left > 0) {
        sem_post(&paced->fixture->on_stalled);
        return;
    }
    http_stream_end(paced->stream);
    free(paced);
}

static void paced_gone(void *data)
{
    struct paced *paced = data;

    sem_post(&paced->fixture->on_gone);
    free(paced);
}

static void on_paced(struct http_request *request, void *arg)
{
    struct paced *paced = calloc(1, sizeof(*paced));

    paced->fixture = arg;
    paced->left = (size_t)32 << 20;
    paced->stream = http_stream_begin(request, 200, "text/plain", paced_gone, paced);
    http_stream_on_drain(paced->stream, paced_fill);
    paced_fill(paced);
}

static void flood_gone(void *data)
{
    struct fixture *fixture = data;

    sem_post(&fixture->on_gone);
}

/* Writes more than any queue may hold. */
static void on_flood(struct http_request *request, void *arg)
{
    static const char block[1 << 20] = {'x'};
    struct http_stream *stream =
        http_stream_begin(request, 200, "text/plain", flood_gone, arg);

    for (int i = 0; i < 70; i++)
        http_stream_write(stream, block, sizeof(block));
}

static void on_large(struct http_request *request, void *arg)
{
    size_t len = (size_t)16 << 20;
    char *text = malloc(len);

    (void)arg;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 23);
    http_reply_text(request, 200, "text/plain", text, len);
    free(text);
}

/* As many bytes as the path says. */
static void on_bytes(struct http_request *request, void *arg)
{
    size_t len = strtoul(http_request_param(request, "n"), NULL, 10);
    char *text = calloc(1, len);

    (void)arg;
    http_reply_text(request, 200, "text/plain", text, len);
    free(text);
}

static void on_counters(struct http_request *request, void *arg)
{
    struct fixture *fixture = arg;
    struct http_counters c;

    http_server_counters(fixture->server, &c);
    http_reply_json(
        request, 200,
        json_pack("{s:I, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:i}", "requests",
                  (json_int_t)c.requests, "2xx", (json_int_t)c.responses_2xx, "4xx",
                  (json_int_t)c.responses_4xx, "5xx", (json_int_t)c.responses_5xx,
                  "connections", (int)c.connections, "streams", (int)c.streams,
                  "reclaimed", (json_int_t)c.reclaimed, "unread_bytes",
                  (json_int_t)c.unread_bytes, "dropped", (json_int_t)c.dropped, "waiting",
                  (int)c.waiting));
}

static bool is_guest(void *arg, const char *token)
{
    (void)arg;
    return strcmp(token, FIXTURE_GUEST) == 0;
}

static const struct http_route routes[] = {
    {"GET", "/healthz", ROLE_NONE, 0, on_ok},
    {"GET", "/api/ok", ROLE_VIEWER, 0, on_ok},
    {"GET", "/api/none", ROLE_VIEWER, 0, on_none},
    {"GET", "/api/inspect/{id}", ROLE_VIEWER, 0, on_inspect},
    {"GET", "/api/each", ROLE_VIEWER, 0, on_each},
    {"POST", "/api/echo", ROLE_OPERATOR, 1000, on_echo},
    {"GET", "/api/echo", ROLE_VIEWER, 0, on_ok},
    {"POST", "/api/length", ROLE_OPERATOR, (size_t)8 << 20, on_length},
    {"POST", "/api/events", ROLE_AGENT, (size_t)8 << 20, on_length},
    {"GET", "/api/hold", ROLE_VIEWER, 0, on_hold},
    {"DELETE", "/api/item/{id}", ROLE_OPERATOR, 0, on_delete},
    {"POST", "/api/agent", ROLE_AGENT, 1000, on_echo},
    {"GET", "/api/fail", ROLE_VIEWER, 0, on_fail},
    {"GET", "/api/park", ROLE_VIEWER, 0, on_park},
    {"POST", "/api/wake", ROLE_OPERATOR, 0, on_wake},
    {"POST", "/api/wake/{n}", ROLE_OPERATOR, 0, on_wake_in_turn},
    {"GET", "/api/slow", ROLE_VIEWER, 0, on_slow},
    {"GET", "/api/unparked", ROLE_VIEWER, 0, on_unparked},
    {"GET", "/api/open", ROLE_VIEWER, 0, on_open},
    {"POST", "/api/publish", ROLE_OPERATOR, 0, on_publish},
    {"GET", "/api/burst", ROLE_VIEWER, 0, on_burst},
    {"GET", "/api/partial", ROLE_VIEWER, 0, on_partial},
    {"GET", "/api/paced", ROLE_VIEWER, 0, on_paced},
    {"GET", "/api/flood", ROLE_VIEWER, 0, on_flood},
    {"GET", "/api/large", ROLE_VIEWER, 0, on_large},
    {"GET", "/api/bytes/{n}", ROLE_VIEWER, 0, on_bytes},
    {"GET", "/counters", ROLE_NONE, 0, on_counters},
    {NULL, NULL, ROLE_NONE, 0, NULL},
};

/* ---- the server's thread ---- */

static void on_closed(void *arg)
{
    struct fixture *fixture = arg;

    fixture->server = NULL;
    if (fixture->late)
        http_reply_text(fixture->late, 200, "text/plain", "too late", 8);
    fixture->late = NULL;
    sem_post(&fixture->on_closed);
}

static void on_stop(uv_async_t *async)
{
    struct fixture *fixture = async->data;

    http_server_close(fixture->server, on_closed, fixture);
    uv_close((uv_handle_t *)&fixture->turn, NULL);
    uv_close((uv_handle_t *)async, NULL);
}

static void on_turn(uv_prepare_t *turn)
{
    struct fixture *fixture = turn->data;

    fixture->bodies_in_turn = 0;
}

static void run(void *arg)
{
    struct fixture *fixture = arg;

    uv_run(&fixture->loop, UV_RUN_DEFAULT);
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void init_semaphores(struct fixture *fixture)
{
    sem_init(&fixture->on_parked, 0, 0);
    sem_init(&fixture->on_gone, 0, 0);
    sem_init(&fixture->on_stalled, 0, 0);
    sem_init(&fixture->on_stream, 0, 0);
    sem_init(&fixture->on_closed, 0, 0);
    sem_init(&fixture->on_held, 0, 0);
    sem_init(&fixture->release, 0, 0);
}

struct fixture *fixture_start(const struct fixture_options *options)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct http_config config = {.web_dir = options->web_dir,
                                 .tls_cert = options->tls_cert,
                                 .tls_key = options->tls_key,
                                 .max_streams = options->max_streams,
                                 .max_connections = options->max_connections,
                                 .max_unread = options->max_unread};
    struct sockaddr_in *address = (struct sockaddr_in *)&config.listen;
    struct sockaddr_storage bound;
    struct error err = {ERROR_NONE, ""};

    raise_descriptor_limit();
    init_semaphores(fixture);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    uv_loop_init(&fixture->loop);
    if (options->token_file) {
        fixture->auth = http_auth_load(options->token_file, &err);
        if (!fixture->auth)
            fail_msg("%s", err.text);
    }
    config.auth = fixture->auth;
    fixture->server = http_server_create(&fixture->loop, &config, routes, fixture, &err);
    if (!fixture->server)
        fail_msg("%s", err.text);
    http_server_set_token_check(fixture->server, is_guest, fixture);
    http_server_address(fixture->server, &bound);
    fixture->port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
    uv_async_init(&fixture->loop, &fixture->stop, on_stop);
    fixture->stop.data = fixture;
    uv_prepare_init(&fixture->loop, &fixture->turn);
    fixture->turn.data = fixture;
    uv_prepare_start(&fixture->turn, on_turn);
    uv_thread_create(&fixture->thread, run, fixture);
    return fixture;
}

void fixture_begin_stop(struct fixture *fixture)
{
    fixture->is_stopping = true;
    uv_async_send(&fixture->stop);
}

void fixture_stop(struct fixture *fixture)
{
    if (!fixture->is_stopping)
        fixture_begin_stop(fixture);
    uv_thread_join(&fixture->thread);
    assert_null(fixture->server);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    http_auth_destroy(fixture->auth);
    sem_destroy(&fixture->on_parked);
    sem_destroy(&fixture->on_gone);
    sem_destroy(&fixture->on_stalled);
    sem_destroy(&fixture->on_stream);
    sem_destroy(&fixture->on_closed);
    sem_destroy(&fixture->on_held);
    sem_destroy(&fixture->release);
    free(fixture);
}

bool fixture_wait(sem_t *sem, int n, double seconds)
{
    struct timespec deadline;
    int64_t ns;

    clock_gettime(CLOCK_REALTIME, &deadline);
    ns = deadline.tv_nsec + (int64_t)(seconds * 1e9);
    deadline.tv_sec += ns / 1000000000;
    deadline.tv_nsec = ns % 1000000000;
    for (int i = 0; i < n; i++) {
        while (sem_timedwait(sem, &deadline))
            if (errno != EINTR)
                return false;
    }
    return true;
}

/* ---- the client ---- */

void client_connect_on(int fd, const struct fixture *fixture)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)fixture->port)};
    struct timeval limit = {.tv_sec = WAIT_S};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

int client_connect(const struct fixture *fixture)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    client_connect_on(fd, fixture);
    return fd;
}

void client_send_bytes(int fd, const void *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = send(fd, (const char *)data + done, len - done, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* the server may refuse and close: the answer tells */
        done += (size_t)n;
    }
}

void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

#define TEXT_MIN 64

/* What a text of n bytes has been allocated with: doubling, so that a long answer in
 * small chunks is not copied for each of them. */
static size_t capacity_for(size_t n)
{
    size_t capacity = TEXT_MIN;

    while (capacity < n)
        capacity *= 2;
    return capacity;
}

ssize_t client_receive(int fd, void *data, size_t len)
{
    ssize_t n;

    do {
        n = recv(fd, data, len, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* Append exactly len bytes; false when the connection ends first. */
static bool read_bytes(int fd, char **text, size_t *have, size_t len)
{
    size_t end = *have + len;

    if (!*text || capacity_for(*have + 1) < end + 1)
        *text = realloc(*text, capacity_for(end + 1));
    while (*have < end) {
        ssize_t n = client_receive(fd, *text + *have, end - *have);

        if (n <= 0)
            break;
        *have += (size_t)n;
    }
    (*text)[*have] = '\0';
    return *have == end;
}

/* Append up to and with the next line feed, byte by byte so that nothing of what follows
 * is taken. */
static bool read_line(int fd, char **text, size_t *have)
{
    do {
        if (!read_bytes(fd, text, have, 1))
            return false;
    } while ((*text)[*have - 1] != '\n');
    return true;
}

static bool read_chunks(int fd, struct reply *reply)
{
    for (;;) {
        char *line = NULL;
        size_t have = 0, size;
        bool is_good = read_line(fd, &line, &have);

        size = is_good ? strtoul(line, NULL, 16) : 0;
        free(line);
        if (!is_good)
            return false;
        if (size > 0 && !read_bytes(fd, &reply->body, &reply->len, size))
            return false;
        line = NULL;
        have = 0;
        is_good = read_line(fd, &line, &have);
        free(line);
        if (!is_good || size == 0)
            return is_good;
    }
}

void client_read(int fd, bool is_head, struct reply *reply)
{
    size_t have = 0;
    char value[256];

    memset(reply, 0, sizeof(*reply));
    do {
        if (!read_line(fd, &reply->head, &have))
            return;
    } while (have < 4 || strcmp(reply->head + have - 4, "\r\n\r\n") != 0);
    reply->status = have > 9 ? (int)strtol(reply->head + 9, NULL, 10) : 0;
    reply->body = calloc(1, TEXT_MIN);
    if (reply->status == 100) {
        reply_release(reply);
        client_read(fd, is_head, reply);
    } else if (is_head || reply->status == 204 || reply->status == 304) {
        return;
    } else if (reply_header(reply, "Transfer-Encoding", value)) {
        reply->is_truncated = !read_chunks(fd, reply);
    } else if (reply_header(reply, "Content-Length", value)) {
        reply->is_truncated =
            !read_bytes(fd, &reply->body, &reply->len, strtoul(value, NULL, 10));
    } else {
        while (read_bytes(fd, &reply->body, &reply->len, 1))
            ;
    }
}

void reply_release(struct reply *reply)
{
    free(reply->head);
    free(reply->body);
    memset(reply, 0, sizeof(*reply));
}

bool reply_header(const struct reply *reply, const char *name, char value[256])
{
    size_t len = strlen(name);

    for (const char *line = reply->head; (line = strchr(line, '\n'));) {
        line++;
        if (!strncasecmp(line, name, len) && line[len] == ':') {
            snprintf(value, 256, "%.*s", (int)strcspn(line + len + 2, "\r\n"),
                     line + len + 2);
            return true;
        }
    }
    return false;
}

void client_ask(const struct fixture *fixture, const char *method_and_target,
                const char *headers, const char *body, struct reply *reply)
{
    int fd = client_connect(fixture);
    char length[64] = "";
    size_t size = strlen(method_and_target) + strlen(headers) + 256;
    char *text = malloc(size);

    if (body)
        snprintf(length, sizeof(length), "Content-Length: %zu\r\n", strlen(body));
    snprintf(text, size, "%s HTTP/1.1\r\n%s%s%s\r\n", method_and_target,
             strstr(headers, "Host:") ? "" : "Host: localhost\r\n", headers, length);
    client_send(fd, text);
    if (body)
        client_send(fd, body);
    client_read(fd, !strncmp(method_and_target, "HEAD ", 5), reply);
    free(text);
    close(fd);
}

void client_expect(const struct fixture *fixture, const char *method_and_target,
                   const char *headers, const char *body, int status)
{
    struct reply reply;

    client_ask(fixture, method_and_target, headers, body, &reply);
    if (reply.status != status)
        fail_msg("%s (%s): status %d, expected %d: %s", method_and_target, headers,
                 reply.status, status, reply.body ? reply.body : "");
    reply_release(&reply);
}

long fixture_counter(const struct fixture *fixture, const char *name)
{
    struct reply reply;
    json_t *json;
    long value;

    client_ask(fixture, "GET /counters", "", NULL, &reply);
    assert_int_equal(reply.status, 200);
    json = json_loads(reply.body, 0, NULL);
    value = (long)json_integer_value(json_object_get(json, name));
    json_decref(json);
    reply_release(&reply);
    return value;
}
