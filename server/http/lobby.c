/* lobby.c - connections that have not said yet what they want */
#include "server/http/lobby.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/base/log.h"
#include "server/http/roster.h"

#define ACCEPTS_PER_TURN 64
#define EVENTS_PER_TURN 64
#define SWEEP_MS 1000
#define GRACE_MS 1000
/* Those that may come in but find no place are asked about again. */
#define RETRY_MS 20
/* A timer of none would be due again before the loop looks at anything else. */
#define NEXT_TURN_MS 1
#define RETRIES_PER_TURN 16
#define FEW 4
/* More than that need not be seen: the library refuses longer heads. */
#define PEEK_BYTES 8192
#define TLS_RECORD_HEAD 5
#define TLS_HANDSHAKE 0x16

struct guest {
    struct roster_entry entry;
    int fd;
    struct guest_list *ready; /* where it stands, and in lobby->spoken; NULL: silent */
    socklen_t address_len;
    union {
        struct sockaddr any;
        struct sockaddr_in6 room;
    } address;
    TAILQ_ENTRY(guest) next;
};

TAILQ_HEAD(guest_list, guest);

struct lobby {
    struct lobby_config config;
    uv_loop_t *loop;
    uv_poll_t listener, poll;
    uv_timer_t turn, sweep;
    unsigned handles; /* not yet closed */
    int epoll_fd;     /* of the guests, edge-triggered: a part of a head wakes us once */
    int spare_fd;     /* to take and refuse one when no descriptor is left */
    struct roster waiting; /* the silent */
    struct roster spoken;  /* the others */
    /* These, by how many of their address had come before, the last with all beyond that:
     * the first of the first list is admitted next. */
    struct guest_list ready[FEW + 1];
    struct lobby_counters counters;
    uint64_t told; /* reclaimed ones that the log knows of */
    void (*closed)(void *arg);
    void *closed_arg;
};

static void line_up(struct guest *guest, struct guest_list *list)
{
    if (guest->ready)
        TAILQ_REMOVE(guest->ready, guest, next);
    if (list)
        TAILQ_INSERT_TAIL(list, guest, next);
    guest->ready = list;
}

static struct guest *first_ready(const struct lobby *lobby)
{
    struct guest *guest = NULL;

    for (int i = 0; i <= FEW && !guest; i++)
        guest = TAILQ_FIRST(&lobby->ready[i]);
    return guest;
}

static void guest_free(struct lobby *lobby, struct guest *guest)
{
    roster_remove(guest->ready ? &lobby->spoken : &lobby->waiting, &guest->entry);
    line_up(guest, NULL);
    free(guest);
}

static void guest_drop(struct lobby *lobby, struct guest *guest)
{
    close(guest->fd);
    guest_free(lobby, guest);
}

/* ---- What a guest has said ---- */

static bool is_hello(const unsigned char *data, size_t len)
{
    return len >= TLS_RECORD_HEAD &&
           (data[0] != TLS_HANDSHAKE ||
            len >= TLS_RECORD_HEAD + (size_t)(data[3] << 8 | data[4]));
}

/* An empty line after others, in the ways that the library takes for one; or a first line
 * that is none of a request, which it answers at once. */
static bool is_head(const char *data, size_t len)
{
    const char *end = data + len, *line;

    for (; data < end && (*data == '\r' || *data == '\n'); data++)
        ;
    line = memchr(data, '\n', (size_t)(end - data));
    if (line && !memmem(data, (size_t)(line - data), " HTTP/", 6))
        return true;
    for (; line; line = memchr(line + 1, '\n', (size_t)(end - line - 1)))
        if ((end - line > 1 && line[1] == '\n') ||
            (end - line > 2 && line[1] == '\r' && line[2] == '\n'))
            return true;
    return false;
}

enum look { LOOK_SILENT, LOOK_READY, LOOK_OVER };

static enum look look_at(const struct lobby *lobby, const struct guest *guest,
                         bool is_end)
{
    char data[PEEK_BYTES];
    ssize_t n = recv(guest->fd, data, sizeof(data), MSG_PEEK | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return is_end ? LOOK_OVER : LOOK_SILENT;
    if (n <= 0)
        return LOOK_OVER;
    if (n == sizeof(data) ||
        (lobby->config.is_tls ? is_hello((const unsigned char *)data, (size_t)n)
                              : is_head(data, (size_t)n)))
        return LOOK_READY;
    return is_end ? LOOK_OVER : LOOK_SILENT;
}

/* ---- Admission ---- */

static int watch(struct lobby *lobby, struct guest *guest)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET,
                                .data.ptr = guest};

    return epoll_ctl(lobby->epoll_fd, EPOLL_CTL_ADD, guest->fd, &event);
}

static bool admit(struct lobby *lobby, struct guest *guest)
{
    const struct lobby_config *config = &lobby->config;

    /* The library has a poll of its own. */
    epoll_ctl(lobby->epoll_fd, EPOLL_CTL_DEL, guest->fd, NULL);
    if (config->admit(config->arg, guest->fd, &guest->address.any, guest->address_len) ==
        LOBBY_LATER) {
        watch(lobby, guest);
        return false;
    }
    guest_free(lobby, guest);
    return true;
}

static void on_turn(uv_timer_t *timer)
{
    struct lobby *lobby = timer->data;
    unsigned left = lobby->config.max_per_turn, tries = RETRIES_PER_TURN;
    struct guest *guest;

    while (left > 0 && tries-- > 0 && (guest = first_ready(lobby)))
        if (admit(lobby, guest))
            left--;
        else
            line_up(guest, &lobby->ready[FEW]);
    if (first_ready(lobby))
        uv_timer_start(timer, on_turn,
                       left < lobby->config.max_per_turn ? NEXT_TURN_MS : RETRY_MS, 0);
}

/* It has spoken, and no silence ends it any more. Whose address has few here does not
 * wait for those that have many. */
static void let_in(struct lobby *lobby, struct guest *guest)
{
    unsigned count;

    if (lobby->config.max_per_turn == 0 && admit(lobby, guest))
        return;
    roster_remove(&lobby->waiting, &guest->entry);
    if (roster_add(&lobby->spoken, &guest->entry, &guest->address.any,
                   uv_now(lobby->loop))) {
        guest_drop(lobby, guest);
        return;
    }
    roster_oldest_of(&lobby->spoken, &guest->address.any, &count);
    line_up(guest, &lobby->ready[count <= FEW ? count - 1 : FEW]);
    uv_timer_start(&lobby->turn, on_turn, 0, 0);
}

static bool settle(struct lobby *lobby, struct guest *guest, bool is_end)
{
    switch (look_at(lobby, guest, is_end)) {
    case LOOK_SILENT:
        return false;
    case LOOK_READY:
        let_in(lobby, guest);
        break;
    case LOOK_OVER:
        guest_drop(lobby, guest);
        break;
    }
    return true;
}

static void on_events(uv_poll_t *poll, int status, int events)
{
    struct lobby *lobby = poll->data;
    struct epoll_event found[EVENTS_PER_TURN];
    int n = epoll_wait(lobby->epoll_fd, found, EVENTS_PER_TURN, 0);

    (void)status;
    (void)events;
    for (int i = 0; i < n; i++) {
        struct guest *guest = found[i].data.ptr;
        bool is_end = found[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

        if (!guest->ready)
            settle(lobby, guest, is_end);
        else if (found[i].events & (EPOLLHUP | EPOLLERR))
            guest_drop(lobby, guest);
    }
}

/* ---- Arrival ---- */

static unsigned here(const struct lobby *lobby)
{
    return lobby->waiting.count + lobby->spoken.count;
}

/* The longest silent connection makes room, be it here or in the library. */
static bool make_room(struct lobby *lobby)
{
    const struct lobby_config *config = &lobby->config;
    struct roster_entry *oldest = roster_oldest(&lobby->waiting);

    if (!config->reclaim(config->arg, oldest ? oldest->since_ms : UINT64_MAX)) {
        if (!oldest)
            oldest = roster_oldest(&lobby->spoken);
        if (!oldest)
            return false;
        guest_drop(lobby, oldest->owner);
    }
    lobby->counters.reclaimed++;
    return true;
}

/* Whether too many wait; then *oldest is the one to go. Many may come at the same time
 * and speak soon, as agents after a restart do, so one that has just come stays if there
 * is room. */
static bool is_crowded(const struct lobby *lobby, const struct sockaddr *address,
                       struct roster_entry **oldest)
{
    unsigned count;

    *oldest = roster_oldest_of(&lobby->waiting, address, &count);
    if (count < lobby->config.max_per_address) {
        if (lobby->waiting.count < lobby->config.max_waiting)
            return false;
        *oldest = roster_oldest(&lobby->waiting);
    }
    return uv_now(lobby->loop) - (*oldest)->since_ms >= GRACE_MS;
}

static bool has_room(struct lobby *lobby, const struct sockaddr *address)
{
    const struct lobby_config *config = &lobby->config;
    struct roster_entry *oldest;

    for (int i = 0; i < 2 && is_crowded(lobby, address, &oldest); i++) {
        guest_drop(lobby, oldest->owner);
        lobby->counters.reclaimed++;
    }
    return here(lobby) + config->admitted(config->arg) < config->max || make_room(lobby);
}

static void on_sweep(uv_timer_t *timer);

static void receive(struct lobby *lobby, struct guest *guest)
{
    if (settle(lobby, guest, false))
        return;
    if (watch(lobby, guest)) {
        guest_drop(lobby, guest);
        return;
    }
    if (!uv_is_active((uv_handle_t *)&lobby->sweep))
        uv_timer_start(&lobby->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
}

static void arrive(struct lobby *lobby, int fd, const struct sockaddr_storage *address,
                   socklen_t len)
{
    struct guest *guest = NULL;

    if (len <= sizeof(guest->address) &&
        has_room(lobby, (const struct sockaddr *)address))
        guest = calloc(1, sizeof(*guest));
    if (!guest) {
        lobby->counters.refused++;
        close(fd);
        return;
    }
    guest->fd = fd;
    guest->entry.owner = guest;
    guest->address_len = len;
    memcpy(&guest->address, address, len);
    if (roster_add(&lobby->waiting, &guest->entry, &guest->address.any,
                   uv_now(lobby->loop)))
        guest_drop(lobby, guest);
    else
        receive(lobby, guest);
}

/* What listens would tell us for ever of one that we can't take. */
static void refuse_one(struct lobby *lobby)
{
    int fd;

    close(lobby->spare_fd);
    fd = accept(lobby->config.listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    lobby->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    lobby->counters.refused++;
}

/* The kernel has no more for us. It says so also where nobody comes. */
static void on_scarcity(struct lobby *lobby)
{
    struct pollfd listener = {.fd = lobby->config.listener, .events = POLLIN};

    if (poll(&listener, 1, 0) == 1 && !make_room(lobby))
        refuse_one(lobby);
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
    struct lobby *lobby = poll->data;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage address;
        socklen_t len = sizeof(address);
        int fd = accept4(lobby->config.listener, (struct sockaddr *)&address, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0)
            arrive(lobby, fd, &address, len);
        else if (errno == EAGAIN)
            return;
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                 errno == ENOBUFS) {
            /* What makes room may take a turn to close. */
            on_scarcity(lobby);
            return;
        }
    }
}

static void on_sweep(uv_timer_t *timer)
{
    struct lobby *lobby = timer->data;
    uint64_t now = uv_now(lobby->loop);
    struct roster_entry *oldest;

    while ((oldest = roster_oldest(&lobby->waiting)) &&
           now - oldest->since_ms >= lobby->config.patience_ms)
        guest_drop(lobby, oldest->owner);
    if (lobby->counters.reclaimed > lobby->told)
        log_warn("http: closed %llu connections that were silent longest, to make room",
                 (unsigned long long)(lobby->counters.reclaimed - lobby->told));
    lobby->told = lobby->counters.reclaimed;
    if (!oldest)
        uv_timer_stop(timer);
}

/* ---- Life ---- */

static void lobby_free(struct lobby *lobby)
{
    if (lobby->epoll_fd >= 0)
        close(lobby->epoll_fd);
    if (lobby->spare_fd >= 0)
        close(lobby->spare_fd);
    close(lobby->config.listener);
    free(lobby);
}

struct lobby *lobby_create(uv_loop_t *loop, const struct lobby_config *config,
                           struct error *err)
{
    struct lobby *lobby = calloc(1, sizeof(*lobby));

    if (!lobby) {
        close(config->listener);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    lobby->config = *config;
    lobby->loop = loop;
    roster_init(&lobby->waiting);
    roster_init(&lobby->spoken);
    for (int i = 0; i <= FEW; i++)
        TAILQ_INIT(&lobby->ready[i]);
    lobby->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    lobby->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lobby->epoll_fd < 0 || lobby->spare_fd < 0) {
        error_set_errno(err, ERROR_IO, errno, "cannot watch connections");
        lobby_free(lobby);
        return NULL;
    }
    uv_poll_init(loop, &lobby->listener, config->listener);
    uv_poll_init(loop, &lobby->poll, lobby->epoll_fd);
    uv_timer_init(loop, &lobby->turn);
    uv_timer_init(loop, &lobby->sweep);
    lobby->handles = 4;
    lobby->listener.data = lobby->poll.data = lobby->turn.data = lobby->sweep.data =
        lobby;
    uv_poll_start(&lobby->listener, UV_READABLE, on_connections);
    uv_poll_start(&lobby->poll, UV_READABLE, on_events);
    return lobby;
}

void lobby_counters(const struct lobby *lobby, struct lobby_counters *out)
{
    *out = lobby->counters;
    out->waiting = here(lobby);
}

static void on_closed(uv_handle_t *handle)
{
    struct lobby *lobby = handle->data;
    void (*closed)(void *arg) = lobby->closed;
    void *arg = lobby->closed_arg;

    if (--lobby->handles > 0)
        return;
    lobby_free(lobby);
    closed(arg);
}

void lobby_close(struct lobby *lobby, void (*closed)(void *arg), void *arg)
{
    struct roster_entry *oldest;

    lobby->closed = closed;
    lobby->closed_arg = arg;
    while ((oldest = roster_oldest(&lobby->waiting)) ||
           (oldest = roster_oldest(&lobby->spoken)))
        guest_drop(lobby, oldest->owner);
    uv_close((uv_handle_t *)&lobby->listener, on_closed);
    uv_close((uv_handle_t *)&lobby->poll, on_closed);
    uv_close((uv_handle_t *)&lobby->turn, on_closed);
    uv_close((uv_handle_t *)&lobby->sweep, on_closed);
}
