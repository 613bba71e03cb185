/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - the control tree of a case: barrier, all-gather, and notice of deaths */
#include "agent/worker/group/tree.h"

#include <errno.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/worker/group/tree_join.h"
#include "common/base/memory.h"

#define LEAVE_MS 5000
#define SLICE_MS 50             /* a loss ends a wait for a socket within this time */
#define SCRATCH_RANK_BYTES 4096 /* large enough that it rarely grows during a row */
/* longer than the silence of an idle link whose peer answers probes */
#define SILENT_MS 16000

/* ---- Creation and end ---- */

static void make_scratch(struct tree *tree, size_t len)
{
    if (len <= tree->scratch_len)
        return;
    free(tree->scratch);
    tree->scratch = memory_zeroed(len, 1, "gathering");
    tree->scratch_len = len;
}

static int add_event(struct tree *tree, int fd, uint32_t id, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = id};

    return epoll_ctl(tree->epoll_fd, EPOLL_CTL_ADD, fd, &event)
               ? error_set_errno(err, ERROR_IO, errno, "cannot watch rank %d", tree->rank)
               : 0;
}

static int lose_process(struct tree *tree, int rank, struct error *err)
{
    struct error error;

    watch_describe_end(rank, &error);
    watch_lose_rank(&tree->watch, rank, error.code, error.text);
    return watch_reason(&tree->watch, err);
}

/* Linux before 5.3 has no pidfd. On such kernels only the agents detect the end of a
 * process. */
static int watch_process(struct tree *tree, int rank, pid_t pid, struct error *err)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0 && errno == ESRCH)
        return lose_process(tree, rank, err);
    if (fd < 0)
        return 0;
    tree->pidfds[tree->n_pidfds++] = fd;
    return add_event(tree, fd, (uint32_t)rank, err);
}

static int rank_at(const struct tree *tree, int host, int member)
{
    return tree->order[tree->hosts[host].first + member];
}

static bool leads(const struct tree *tree)
{
    return tree->segment.self == 0;
}

/* The id of an epoll event is a rank, or world_size plus the index of a link. */
static int watch_all(struct tree *tree, struct error *err)
{
    const struct segment *segment = &tree->segment;

    tree->pidfds =
        memory_zeroed((size_t)segment->n, sizeof(*tree->pidfds), "connecting ranks");
    for (int i = 1; leads(tree) && i < segment->n; i++)
        if (watch_process(tree, rank_at(tree, tree->host, i), segment_pid(segment, i),
                          err))
            return -1;
    for (int i = 0; i < tree->n_links; i++)
        if (add_event(tree, tree->links[i].notice_fd, (uint32_t)(tree->world_size + i),
                      err))
            return -1;
    return leads(tree) ? 0
                       : watch_process(tree, tree->hosts[tree->host].leader,
                                       tree->hosts[tree->host].segment.pid, err);
}

static int connect_all(struct tree *tree, const struct tree_config *config,
                       struct error *err)
{
    watch_init(&tree->watch, config->stop);
    tree->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (tree->epoll_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "epoll");
    if (tree_join(tree, config, err))
        return -1;
    if (tree->n_links > 0)
        make_scratch(tree, (size_t)tree->world_size * SCRATCH_RANK_BYTES);
    return tree_barrier(tree, err) || watch_all(tree, err) || tree_barrier(tree, err) ? -1
                                                                                      : 0;
}

struct tree *tree_create(const struct tree_config *config, struct error *err)
{
    struct tree *tree = memory_zeroed(1, sizeof(*tree), "connecting ranks");

    tree->rank = config->rank;
    tree->world_size = config->world_size;
    tree->epoll_fd = tree->port.listener = tree->segment.fd = -1;
    tree->segment.watch = &tree->watch;
    if (connect_all(tree, config, err)) {
        tree_destroy(tree);
        return NULL;
    }
    return tree;
}

void tree_leave(struct tree *tree)
{
    if (tree && !watch_check(&tree->watch)) {
        /* A peer that left this barrier may exit while others are still in it. */
        watch_leave(&tree->watch, LEAVE_MS);
        tree_barrier(tree, NULL);
    }
}

void tree_destroy(struct tree *tree)
{
    if (!tree)
        return;
    for (int i = 0; i < tree->n_links; i++) {
        if (tree->links[i].fd >= 0)
            close(tree->links[i].fd);
        if (tree->links[i].notice_fd >= 0)
            close(tree->links[i].notice_fd);
    }
    for (int i = 0; i < tree->n_pidfds; i++)
        close(tree->pidfds[i]);
    free(tree->pidfds);
    greeting_close(&tree->port);
    segment_release(&tree->segment);
    if (tree->epoll_fd >= 0)
        close(tree->epoll_fd);
    free(tree->hosts);
    free(tree->host_of);
    free(tree->order);
    free(tree->scratch);
    free(tree);
}

json_t *tree_describe(const struct tree *tree)
{
    bool has_shm = tree->segment.n > 1, has_tcp = tree->n_hosts > 1;

    return json_string(has_shm && has_tcp ? "shm, tcp"
                       : has_shm          ? "shm"
                       : has_tcp          ? "tcp"
                                          : "self");
}

/* ---- Between hosts ---- */

struct notice {
    int32_t lost, code;
    char text[248];
};

/* On failure, return false. errno is the reason, or 0 if the connection was closed. */
static bool read_notice(const struct tree_link *link, int flags, int *lost,
                        struct error *error)
{
    struct notice notice;
    ssize_t n = recv(link->notice_fd, &notice, sizeof(notice), MSG_DONTWAIT | flags);

    errno = n < 0 ? errno : 0;
    if (n != (ssize_t)sizeof(notice))
        return false;
    notice.text[sizeof(notice.text) - 1] = '\0';
    *lost = notice.lost;
    error_set(error, (enum error_code)notice.code, "%s", notice.text);
    return true;
}

/* Send a loss along the tree and into this host's segment. Any thread. */
static void spread(struct tree *tree, int lost, const struct error *error)
{
    struct notice notice = {.lost = lost, .code = (int32_t)error->code};

    snprintf(notice.text, sizeof(notice.text), "%.247s", error->text);
    for (int i = 0; i < tree->n_links; i++)
        send(tree->links[i].notice_fd, &notice, sizeof(notice),
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (leads(tree))
        segment_publish_loss(&tree->segment, lost, error);
}

/* Record the loss that broke a link. A neighbor that exits because of another rank's
 * death has sent a notice of that death. If this thread reads the notice before the
 * watchdog does, the watchdog does not spread the loss. Spread it here. */
static int lose_link(struct tree *tree, const struct tree_link *link, int errnum)
{
    struct error error;
    int lost;

    if (read_notice(link, MSG_PEEK, &lost, &error))
        watch_lose_rank(&tree->watch, lost, error.code, error.text);
    else
        watch_lose(&tree->watch, link->rank, errnum);
    if (tree->watch.lost >= 0)
        spread(tree, tree->watch.lost, &tree->watch.error);
    return -1;
}

static int move(struct tree *tree, const struct tree_link *link, char *data, size_t len,
                bool is_send)
{
    struct pollfd pollfd = {.fd = link->fd, .events = is_send ? POLLOUT : POLLIN};
    unsigned polls = 0;

    for (size_t done = 0; done < len;) {
        ssize_t n =
            is_send ? send(link->fd, data + done, len - done, MSG_NOSIGNAL | MSG_DONTWAIT)
                    : recv(link->fd, data + done, len - done, MSG_DONTWAIT);
        if (n > 0) {
            done += (size_t)n;
            polls = 0;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            return lose_link(tree, link, n < 0 ? errno : 0);
        } else if (polls++ < tree->watch.polls) {
            watch_relax();
        } else {
            if (watch_check(&tree->watch))
                return -1;
            watch_poll_less(&tree->watch);
            poll(&pollfd, 1, watch_progress(&tree->watch) ? 0 : SLICE_MS);
        }
    }
    return 0;
}

/* The header of a message. `len` bytes of data follow. */
struct header {
    uint64_t turn, len;
};

static int send_to(struct tree *tree, const struct tree_link *link, char *data,
                   size_t len)
{
    struct header header = {tree->turn, len};

    return move(tree, link, (char *)&header, sizeof(header), true) ||
                   move(tree, link, data, len, true)
               ? -1
               : 0;
}

static int out_of_step(struct tree *tree, int rank)
{
    char text[64];

    snprintf(text, sizeof(text), "rank %d executes a different operation than this rank",
             rank);
    return watch_fail(&tree->watch, ERROR_INTERNAL, text);
}

static int receive_from(struct tree *tree, const struct tree_link *link, char *data,
                        size_t len)
{
    struct header header;

    if (move(tree, link, (char *)&header, sizeof(header), false))
        return -1;
    if (header.turn != tree->turn || header.len != len)
        return out_of_step(tree, link->rank);
    return move(tree, link, data, len, false);
}

static bool is_below(int host, int top)
{
    while (host > top)
        host = (host - 1) / TREE_WAYS;
    return host == top;
}

/* Copy the parts of all ranks in a host's subtree between `all` and `block`. Returns the
 * block's length. With a NULL block, nothing is copied. */
static size_t move_subtree(const struct tree *tree, int top, size_t len, char *all,
                           char *block, bool is_packing)
{
    size_t done = 0;

    for (int host = top; host < tree->n_hosts; host++) {
        if (!is_below(host, top))
            continue;
        for (int i = 0; i < tree->hosts[host].n; i++) {
            char *part = all + (size_t)rank_at(tree, host, i) * len;
            if (block && is_packing)
                memcpy(block + done, part, len);
            else if (block)
                memcpy(part, block + done, len);
            done += len;
        }
    }
    return done;
}

static int gather_below(struct tree *tree, size_t len, char *all)
{
    for (int i = tree->has_parent; i < tree->n_links; i++) {
        const struct tree_link *link = &tree->links[i];
        size_t bytes = len ? move_subtree(tree, link->host, len, all, NULL, false) : 0;

        make_scratch(tree, bytes);
        if (receive_from(tree, link, tree->scratch, bytes))
            return -1;
        if (len)
            move_subtree(tree, link->host, len, all, tree->scratch, false);
    }
    return 0;
}

static int exchange_with_parent(struct tree *tree, size_t len, char *all)
{
    const struct tree_link *parent = &tree->links[0];
    size_t bytes = len ? move_subtree(tree, tree->host, len, all, NULL, true) : 0;

    make_scratch(tree, bytes);
    if (len)
        move_subtree(tree, tree->host, len, all, tree->scratch, true);
    return send_to(tree, parent, tree->scratch, bytes) ||
                   receive_from(tree, parent, all, len * (size_t)tree->world_size)
               ? -1
               : 0;
}

static int exchange_hosts(struct tree *tree, size_t len, char *all)
{
    if (gather_below(tree, len, all) ||
        (tree->has_parent && exchange_with_parent(tree, len, all)))
        return -1;
    for (int i = tree->has_parent; i < tree->n_links; i++)
        if (send_to(tree, &tree->links[i], all, len * (size_t)tree->world_size))
            return -1;
    return 0;
}

/* ---- Within a host ---- */

static size_t part_len(size_t total, size_t piece, size_t i)
{
    size_t from = i * piece, left = from < total ? total - from : 0;

    return left < piece ? left : piece;
}

static size_t pieces_of(size_t total, size_t piece)
{
    return total ? (total + piece - 1) / piece : 1;
}

static void copy_slots(struct tree *tree, size_t len, size_t from, size_t part, char *all)
{
    for (int i = 1; part && i < tree->segment.n; i++)
        memcpy(all + (size_t)rank_at(tree, tree->host, i) * len + from,
               segment_slot(&tree->segment, i), part);
}

/* Long messages pass through the host's segment in steps. The slots take a rank's bytes
 * in `ins` steps, and the area returns the result in `outs` steps. The last input step is
 * also the first output step. */
static int exchange(struct tree *tree, const char *mine, size_t len, char *all)
{
    struct segment *segment = &tree->segment;
    size_t whole = len * (size_t)tree->world_size;
    size_t ins = pieces_of(len, SEGMENT_SLOT_BYTES);
    size_t outs = pieces_of(whole, SEGMENT_AREA_BYTES);

    if (len && leads(tree))
        memmove(all + (size_t)tree->rank * len, mine, len);
    if (segment->n == 1)
        return exchange_hosts(tree, len, all);
    for (size_t step = 0; step + 1 < ins + outs; step++) {
        size_t in = step * SEGMENT_SLOT_BYTES;
        size_t part = part_len(len, SEGMENT_SLOT_BYTES, step);
        size_t at = step + 1 - ins, out = at * SEGMENT_AREA_BYTES;
        size_t given = step + 1 < ins ? 0 : part_len(whole, SEGMENT_AREA_BYTES, at);

        segment_arrive(segment, mine + (part ? in : 0), leads(tree) ? 0 : part);
        if (!leads(tree)) {
            if (segment_await(segment))
                return -1;
            if (given)
                memcpy(all + out, segment_area(segment), given);
            continue;
        }
        if (segment_collect(segment))
            return -1;
        copy_slots(tree, len, in, part, all);
        if (step + 1 == ins && exchange_hosts(tree, len, all))
            return -1;
        if (given)
            memcpy(segment_area(segment), all + out, given);
        segment_release_all(segment);
    }
    return 0;
}

int tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                   struct error *err)
{
    if (watch_check(&tree->watch))
        return watch_reason(&tree->watch, err);
    int status = exchange(tree, mine, len, all);
    tree->turn++;
    return status ? watch_reason(&tree->watch, err) : 0;
}

int tree_barrier(struct tree *tree, struct error *err)
{
    char nothing = 0;

    return tree_allgather(tree, &nothing, 0, &nothing, err);
}

/* ---- Deaths, on the watchdog's thread ---- */

int tree_fd(const struct tree *tree)
{
    return atomic_load(&tree->watch.is_leaving) || atomic_load(&tree->watch.has_failed)
               ? -1
               : tree->epoll_fd;
}

void tree_poll(struct tree *tree)
{
    struct epoll_event event;
    struct error error;

    if (tree_fd(tree) < 0 || epoll_wait(tree->epoll_fd, &event, 1, 0) <= 0)
        return;
    int lost = (int)event.data.u32;
    if (lost < tree->world_size) {
        /* A leader that exits because of another rank's death has published that death
         * first. */
        if (watch_check(&tree->watch))
            return;
        watch_describe_end(lost, &error);
    } else {
        const struct tree_link *link = &tree->links[lost - tree->world_size];
        if (!read_notice(link, 0, &lost, &error)) {
            lost = link->rank;
            watch_describe_cut(lost, errno, &error);
        }
    }
    /* Inform the other ranks first: once the loss is recorded here, it may end this
     * process. */
    spread(tree, lost, &error);
    watch_lose_rank(&tree->watch, lost, error.code, error.text);
    segment_wake(&tree->segment);
}

static int64_t silence_ms(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)
               ? 0
               : (int64_t)info.tcpi_last_ack_recv;
}

bool tree_has_silence(struct tree *tree, char *text, size_t size)
{
    bool has_silence = false;

    for (int i = 0; tree_fd(tree) >= 0 && i < tree->n_links; i++) {
        struct tree_link *link = &tree->links[i];
        int64_t ms = silence_ms(link->notice_fd);

        if (ms >= SILENT_MS && !link->is_silent && !has_silence) {
            has_silence = true;
            snprintf(text, size,
                     "rank %d at %s has not answered for %lld s: its host or the network "
                     "is down. The case ends after 30 s of silence",
                     link->rank, tree->hosts[link->host].address, (long long)(ms / 1000));
            link->is_silent = true;
        }
        if (ms < SILENT_MS)
            link->is_silent = false;
    }
    return has_silence;
}
