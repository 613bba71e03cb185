/* process_tree.c - the processes of a case and all that they start, below one reaper */
#include "agent/process/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process/process.h"
#include "agent/reaper/cgroup.h"
#include "agent/reaper/children.h"
#include "agent/reaper/protocol.h"
#include "common/base/beside.h"
#include "common/base/clock.h"
#include "common/base/log.h"

#define SCRATCH_BYTES 65536
#define LOCK_NAME "reapers"
#define STRINGS_FD_NAME "ringbench-program"
#define READY_MS 10000 /* for a reaper to start */
#define END_MS 40000   /* for it to end all, which it gives up before */
#define HUNT_MS 20     /* between two rounds of killing what a reaper left */
#define HUNT_MAX_MS 30000

struct process_table {
    uv_loop_t *loop;
    uv_signal_t on_child;
    uv_timer_t settle_timer;
    int handles;         /* not yet closed */
    struct rlimit files; /* as it was for this program: what children get */
    struct process_tree *trees;
    const char *containment;
    const char *root;      /* before /proc */
    int answer_ms, end_ms; /* for a reaper to answer, and to have ended all */
    /* Locked by this process and the reapers that it starts, which all have the one open
     * file: it stays so until the last of them has ended. -1: none. */
    int lock;
    bool has_lock;
    char lock_path[PATH_MAX];
    char reaper[PATH_MAX];
    char scratch[SCRATCH_BYTES]; /* what any pipe is read into */
};

struct process_tree {
    struct process_table *table; /* NULL: that has been destroyed */
    struct process_tree *next;
    struct tree_child *children; /* that have not ended */
    process_tree_end_fn *on_end;
    void *arg;
    pid_t reaper;
    int socket; /* -1: the handle is closed */
    uv_poll_t poll;
    bool is_asked, is_destroyed;
    bool is_killed;      /* the reaper, as it did not answer */
    bool is_gone;        /* the reaper does not speak any more */
    bool is_reaped;      /* and has been waited for */
    bool is_clear;       /* and nothing is left of what was below it */
    uint64_t end_until;  /* once it is asked */
    uint64_t hunt_until; /* once it is gone */
    char cgroup[REAPER_TEXT_MAX], left[REAPER_TEXT_MAX];
};

/* ---- what the reaper says ---- */

static void schedule(struct process_table *table, uint64_t wait_ms);

static void end_child(struct process_tree *tree, struct tree_child *child, bool is_signal,
                      int number)
{
    process_tree_forget(tree, child);
    child->on_exit(child, is_signal, number);
}

static struct tree_child *find_child(const struct process_tree *tree, pid_t pid)
{
    struct tree_child *child = tree->children;

    while (child && child->pid != pid)
        child = child->next;
    return child;
}

static void on_gone(struct process_tree *tree)
{
    uv_poll_stop(&tree->poll);
    tree->is_gone = true;
    tree->hunt_until = uv_now(tree->table->loop) + HUNT_MAX_MS;
    if (!tree->is_asked)
        log_error("the reaper %d has died: its processes are killed", (int)tree->reaper);
    /* Nothing where it has ended in order. */
    cgroup_kill(tree->cgroup);
    schedule(tree->table, 0);
}

static void take_reply(struct process_tree *tree, struct reaper_reply *reply)
{
    struct tree_child *child;

    if (reply->type == REAPER_LEFT)
        snprintf(tree->left, sizeof(tree->left), "%s", reply->text);
    /* One that failed to become its program is known to nobody. */
    child = reply->type == REAPER_EXIT ? find_child(tree, reply->pid) : NULL;
    if (child) {
        child->usage = (struct process_usage){reply->cpu_us, reply->involuntary};
        end_child(tree, child, reply->is_signal, reply->number);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct process_tree *tree = poll->data;
    struct reaper_reply reply;
    ssize_t n = 1;

    (void)status;
    (void)events;
    while (n > 0 && !tree->is_destroyed) {
        n = recv(tree->socket, &reply, sizeof(reply), MSG_DONTWAIT);
        reply.text[sizeof(reply.text) - 1] = '\0';
        if (n > 0)
            take_reply(tree, &reply);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            on_gone(tree);
    }
}

/* ---- the end of a tree ---- */

static void free_tree(struct process_tree *tree)
{
    if (tree->is_destroyed && (tree->is_reaped || !tree->table) && tree->socket < 0)
        free(tree);
}

static void unlink_tree(struct process_tree *tree)
{
    struct process_tree **at = &tree->table->trees;

    while (*at && *at != tree)
        at = &(*at)->next;
    if (*at)
        *at = tree->next;
}

static void note_reaped(struct process_tree *tree)
{
    tree->is_reaped = true;
    if (!tree->is_destroyed)
        return;
    unlink_tree(tree);
    free_tree(tree);
}

static bool is_reaper(const void *arg, pid_t pid)
{
    const struct process_table *table = arg;
    const struct process_tree *tree = table->trees;

    while (tree && (tree->is_reaped || tree->reaper != pid))
        tree = tree->next;
    return tree != NULL;
}

/* Only a reaper that was killed leaves ranks to this process. */
static void take_zombie(struct process_table *table, pid_t pid, int status)
{
    for (struct process_tree *tree = table->trees; tree; tree = tree->next) {
        struct tree_child *child = find_child(tree, pid);

        if (tree->reaper == pid && !tree->is_reaped) {
            note_reaped(tree);
            return;
        }
        if (child) {
            end_child(tree, child, WIFSIGNALED(status),
                      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            return;
        }
    }
}

static void reap(struct process_table *table)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        take_zombie(table, pid, status);
}

/* Processes that nobody has said the end of: the word died with the reaper. */
static void clear(struct process_tree *tree)
{
    cgroup_remove(tree->cgroup);
    tree->is_clear = true;
    while (tree->children)
        end_child(tree, tree->children, true, SIGKILL);
}

/* A tree whose next step is due; NULL: none. */
static struct process_tree *find_due(struct process_table *table, size_t n_orphans)
{
    uint64_t now = uv_now(table->loop);

    for (struct process_tree *tree = table->trees; tree; tree = tree->next) {
        /* Once the reaper has been waited for, what it left is a child of this one. */
        bool is_over = (tree->left[0] && tree->is_reaped) || now >= tree->hunt_until;

        if (tree->is_destroyed || !tree->is_gone)
            continue;
        if (tree->is_clear ? tree->is_asked && tree->on_end
                           : is_over || (tree->is_reaped && n_orphans == 0))
            return tree;
    }
    return NULL;
}

static void take_step(struct process_tree *tree)
{
    process_tree_end_fn *on_end = tree->on_end;

    if (!tree->is_clear) {
        if (!tree->left[0])
            children_describe("", is_reaper, tree->table, tree->left, sizeof(tree->left));
        clear(tree);
    } else {
        tree->on_end = NULL;
        on_end(tree->arg, tree->left);
    }
}

static bool any_lost(const struct process_table *table)
{
    const struct process_tree *tree = table->trees;

    while (tree && (tree->is_destroyed || !tree->is_gone || tree->is_clear))
        tree = tree->next;
    return tree != NULL;
}

bool process_table_lingers(const struct process_table *table, char *text, size_t size)
{
    *text = '\0';
    if (!any_lost(table))
        children_describe(table->root, is_reaper, table, text, size);
    return *text != '\0';
}

static void kill_silent(struct process_tree *tree)
{
    if (tree->is_reaped || tree->is_killed)
        return;
    tree->is_killed = true;
    log_error("the reaper %d does not answer: it is killed with its processes",
              (int)tree->reaper);
    kill(tree->reaper, SIGKILL);
}

/* Reapers that were asked to end all have till then, and are killed. */
static void watch_ends(struct process_table *table)
{
    uint64_t now = uv_now(table->loop);

    for (struct process_tree *tree = table->trees; tree; tree = tree->next) {
        if (!tree->is_asked || tree->is_gone || tree->is_killed || tree->is_destroyed)
            continue;
        if (now < tree->end_until)
            schedule(table, tree->end_until - now);
        else
            kill_silent(tree);
    }
}

/* Go on with the trees whose reapers have gone. Their handlers may destroy trees, so the
 * list is searched anew after each step. */
static void settle(struct process_table *table)
{
    struct process_tree *tree;
    size_t n_orphans;

    reap(table);
    n_orphans = any_lost(table) ? children_kill(is_reaper, table) : 0;
    while ((tree = find_due(table, n_orphans)))
        take_step(tree);
    if (any_lost(table))
        schedule(table, HUNT_MS);
    watch_ends(table);
}

static void on_settle(uv_timer_t *timer)
{
    settle(timer->data);
}

/* Sooner than that where it was to be so already. */
static void schedule(struct process_table *table, uint64_t wait_ms)
{
    const uv_timer_t *timer = &table->settle_timer;

    if (!uv_is_active((const uv_handle_t *)timer) || uv_timer_get_due_in(timer) > wait_ms)
        uv_timer_start(&table->settle_timer, on_settle, wait_ms, 0);
}

static void on_child(uv_signal_t *handle, int signum)
{
    (void)signum;
    settle(handle->data);
}

/* ---- requests ---- */

static bool await_fd(int fd, short events, int wait_ms)
{
    int64_t until = clock_monotonic_ns() / 1000000 + wait_ms, left = wait_ms;
    struct pollfd at = {fd, events, 0};
    int n;

    do {
        n = poll(&at, 1, left > 0 ? (int)left : 0);
        left = until - clock_monotonic_ns() / 1000000;
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

/* Blocks while the socket is full: a reaper takes requests at once, and never waits for
 * the agent. One that does not, being stopped by what it runs, is killed. */
static int send_request(struct process_tree *tree, const struct reaper_request *request,
                        const int *fds, size_t n_fds)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(REAPER_FDS * sizeof(int))];
    } control;
    struct iovec part = {(void *)(uintptr_t)request, sizeof(*request)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    memset(&control, 0, sizeof(control));
    if (n_fds > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
    }
    while (sendmsg(tree->socket, &message, MSG_NOSIGNAL) < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        if (!await_fd(tree->socket, POLLOUT, tree->table->answer_ms)) {
            kill_silent(tree);
            errno = EPIPE;
            return -1;
        }
    }
    return 0;
}

static int put_string(FILE *file, const char *text)
{
    return fwrite(text, strlen(text) + 1, 1, file) == 1 ? 0 : -1;
}

/* A file in memory, since an environment can be larger than a message. */
static int make_strings(const struct process_params *params, int *argc)
{
    int fd = memfd_create(STRINGS_FD_NAME, MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    int result = file ? 0 : -1;

    *argc = 0;
    if (file) {
        result = put_string(file, params->path) ||
                 put_string(file, params->cwd ? params->cwd : "");
        for (char *const *at = params->argv; *at; at++, ++*argc)
            result = result || put_string(file, *at);
        for (char *const *at = params->env; *at; at++)
            result = result || put_string(file, *at);
        result = fclose(file) || result;
    }
    if (result == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* 0: end of file; -1: nothing in time. */
static int read_number(int fd, int32_t *number, int wait_ms)
{
    ssize_t n;

    if (!await_fd(fd, POLLIN, wait_ms))
        return -1;
    do {
        n = read(fd, number, sizeof(*number));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*number);
}

/* Wait until the child has become the program (the report closes) or has failed. */
static pid_t read_report(struct process_tree *tree, int fd,
                         const struct process_params *params, struct error *err)
{
    int wait_ms = tree->table->answer_ms;
    int32_t pid = 0, code = 0;
    int n = read_number(fd, &pid, wait_ms), has_failed = 0;

    if (n > 0 && pid > 0)
        n = has_failed = read_number(fd, &code, wait_ms);
    else if (n == 0)
        return error_set(err, ERROR_IO, "can't run %s: its reaper has died",
                         params->path);
    if (n < 0) {
        kill_silent(tree);
        return error_set(err, ERROR_IO, "can't run %s: not within %d s", params->path,
                         wait_ms / 1000);
    }
    if (pid <= 0)
        return error_set_errno(err, ERROR_IO, -pid, "can't fork");
    if (!has_failed)
        return pid;
    return error_set_errno(err, ERROR_IO, code, "can't run %s%s%s", params->path,
                           params->cwd ? " in " : "", params->cwd ? params->cwd : "");
}

static pid_t request_spawn(struct process_tree *tree, const struct process_params *params,
                           const int streams[3], struct error *err)
{
    struct reaper_request request = {.type = REAPER_SPAWN, .files = tree->table->files};
    int report[2] = {-1, -1}, result = -1;
    int strings = make_strings(params, &request.argc);
    pid_t pid = -1;

    if (strings >= 0 && pipe2(report, O_CLOEXEC) == 0) {
        const int fds[REAPER_FDS] = {strings, streams[0], streams[1], streams[2],
                                     report[1]};

        result = send_request(tree, &request, fds, REAPER_FDS);
    }
    if (result && errno == EPIPE)
        error_set(err, ERROR_IO, "can't run %s: its reaper has died", params->path);
    else if (result)
        error_set_errno(err, ERROR_IO, errno, "can't run %s", params->path);
    if (strings >= 0)
        close(strings);
    if (report[1] >= 0)
        close(report[1]);
    if (result == 0)
        pid = read_report(tree, report[0], params, err);
    if (report[0] >= 0)
        close(report[0]);
    return pid;
}

int process_tree_spawn(struct process_tree *tree, const struct process_params *params,
                       const int streams[3], struct tree_child *child, struct error *err)
{
    child->pid = request_spawn(tree, params, streams, err);
    if (child->pid < 0)
        return -1;
    child->next = tree->children;
    tree->children = child;
    return 0;
}

void process_tree_signal(struct process_tree *tree, pid_t pid, int signum, bool is_group)
{
    struct reaper_request request = {
        .type = REAPER_SIGNAL, .pid = pid, .signum = signum, .is_group = is_group};

    if (!tree->is_gone)
        send_request(tree, &request, NULL, 0);
}

void process_tree_forget(struct process_tree *tree, struct tree_child *child)
{
    struct tree_child **at = &tree->children;

    while (*at && *at != child)
        at = &(*at)->next;
    if (*at)
        *at = child->next;
}

uv_loop_t *process_tree_loop(const struct process_tree *tree)
{
    return tree->table->loop;
}

uv_buf_t process_tree_scratch(const struct process_tree *tree)
{
    return uv_buf_init(tree->table->scratch, SCRATCH_BYTES);
}

void process_tree_end(struct process_tree *tree)
{
    struct reaper_request request = {.type = REAPER_END};

    if (tree->is_asked)
        return;
    tree->is_asked = true;
    tree->end_until = uv_now(tree->table->loop) + (uint64_t)tree->table->end_ms;
    schedule(tree->table, tree->is_gone ? 0 : (uint64_t)tree->table->end_ms);
    if (!tree->is_gone)
        send_request(tree, &request, NULL, 0);
}

/* ---- start ---- */

/* posix_spawn, as this program has threads and its memory is not worth copying. In a
 * session of its own, as no terminal's hangup is meant for the reaper. */
static int spawn_reaper(const struct process_table *table, int socket, pid_t *pid)
{
    char name[] = "ringbench-reaper";
    char *argv[] = {name, NULL}, *env[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    int code;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (table->lock >= 0)
        posix_spawn_file_actions_adddup2(&actions, table->lock, REAPER_LOCK);
    posix_spawn_file_actions_adddup2(&actions, socket, REAPER_SOCKET);
    posix_spawnattr_init(&attributes);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    code = posix_spawn(pid, table->reaper, &actions, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int await_ready(struct process_tree *tree, struct error *err)
{
    const char *path = tree->table->reaper;
    struct reaper_reply reply;

    memset(&reply, 0, sizeof(reply));
    if (!await_fd(tree->socket, POLLIN, READY_MS) ||
        recv(tree->socket, &reply, sizeof(reply), MSG_DONTWAIT) <= 0 ||
        reply.type != REAPER_READY)
        return error_set(err, ERROR_IO, "%s did not start", path);
    if (reply.number != REAPER_PROTOCOL)
        return error_set(err, ERROR_IO,
                         "%s is of another build than this agent: restart the agent",
                         path);
    reply.text[sizeof(reply.text) - 1] = '\0';
    snprintf(tree->cgroup, sizeof(tree->cgroup), "%s", reply.text);
    tree->table->containment = tree->cgroup[0] ? "cgroup" : "subreaper";
    return 0;
}

static int start_reaper(struct process_tree *tree, struct error *err)
{
    const char *path = tree->table->reaper;
    int ends[2], moved, code;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set_errno(err, ERROR_IO, errno, "can't make a pair of sockets");
    tree->socket = ends[0];
    /* Out of the way of the descriptors that it is given. */
    moved = fcntl(ends[1], F_DUPFD_CLOEXEC, REAPER_LOCK + 1);
    close(ends[1]);
    code = moved < 0 ? errno : spawn_reaper(tree->table, moved, &tree->reaper);
    if (moved >= 0)
        close(moved);
    if (code == 0 && await_ready(tree, err) == 0)
        return 0;
    close(tree->socket);
    if (code)
        return error_set_errno(err, ERROR_IO, code, "can't run %s", path);
    kill(tree->reaper, SIGKILL);
    return -1;
}

struct process_tree *process_tree_create(struct process_table *table,
                                         process_tree_end_fn *on_end, void *arg,
                                         struct error *err)
{
    struct process_tree *tree = calloc(1, sizeof(*tree));

    if (!tree) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    tree->table = table;
    tree->on_end = on_end;
    tree->arg = arg;
    if (start_reaper(tree, err)) {
        free(tree);
        return NULL;
    }
    /* Neither can fail on a fresh socket with a free handle. */
    uv_poll_init(table->loop, &tree->poll, tree->socket);
    tree->poll.data = tree;
    uv_poll_start(&tree->poll, UV_READABLE, on_readable);
    tree->next = table->trees;
    table->trees = tree;
    return tree;
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct process_tree *tree = handle->data;

    close(tree->socket);
    tree->socket = -1;
    free_tree(tree);
}

void process_tree_destroy(struct process_tree *tree)
{
    if (!tree)
        return;
    tree->is_destroyed = true;
    shutdown(tree->socket, SHUT_RDWR);
    if (!tree->is_reaped)
        kill(tree->reaper, SIGCONT);
    uv_close((uv_handle_t *)&tree->poll, on_poll_closed);
    if (tree->is_reaped)
        unlink_tree(tree);
}

/* Each rank has three pipes, and the usual limit is 1024. Programs that run here may
 * count on the limit that they know, so it is this process's alone. */
static void raise_file_limit(struct process_table *table)
{
    struct rlimit raised;

    getrlimit(RLIMIT_NOFILE, &table->files);
    raised = table->files;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

void process_table_look_in(struct process_table *table, const char *root)
{
    table->root = root;
}

void process_table_limit(struct process_table *table, int answer_ms, int end_ms)
{
    table->answer_ms = answer_ms;
    table->end_ms = end_ms;
}

static int open_lock(struct process_table *table, const char *dir, struct error *err)
{
    table->lock = -1;
    if (!dir)
        return 0;
    if (snprintf(table->lock_path, PATH_MAX, "%s/" LOCK_NAME, dir) >= PATH_MAX)
        return error_set(err, ERROR_INVALID, "%s is too long a path", dir);
    table->lock = open(table->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (table->lock < 0)
        return error_set_errno(err, ERROR_IO, errno, "can't open %s", table->lock_path);
    return 0;
}

bool process_table_is_alone(struct process_table *table)
{
    if (!table->has_lock && table->lock >= 0)
        table->has_lock = flock(table->lock, LOCK_EX | LOCK_NB) == 0;
    return table->has_lock || table->lock < 0;
}

/* The file goes, unless a reaper that still ends something needs it. */
static void close_lock(struct process_table *table)
{
    int fd;

    if (table->lock < 0)
        return;
    close(table->lock);
    fd = open(table->lock_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlink(table->lock_path);
    close(fd);
}

struct process_table *process_table_create(uv_loop_t *loop, const char *dir,
                                           struct error *err)
{
    struct process_table *table = calloc(1, sizeof(*table));
    int result;

    if (!table || beside_program("ringbench-reaper", table->reaper)) {
        free(table);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    if (open_lock(table, dir, err)) {
        free(table);
        return NULL;
    }
    table->loop = loop;
    table->containment = "subreaper";
    table->root = "";
    process_table_limit(table, READY_MS, END_MS);
    raise_file_limit(table);
    /* What a reaper that was killed leaves comes here, and not to process 1. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    result = uv_signal_init(loop, &table->on_child);
    if (result == 0)
        result = uv_signal_start(&table->on_child, on_child, SIGCHLD);
    if (result) {
        error_set(err, ERROR_INTERNAL, "can't watch child processes: %s",
                  uv_strerror(result));
        close_lock(table);
        free(table);
        return NULL;
    }
    uv_timer_init(loop, &table->settle_timer);
    table->on_child.data = table;
    table->settle_timer.data = table;
    table->handles = 2;
    return table;
}

static void on_table_closed(uv_handle_t *handle)
{
    struct process_table *table = handle->data;

    if (--table->handles == 0)
        free(table);
}

void process_table_destroy(struct process_table *table)
{
    if (!table)
        return;
    /* Reapers that still end what was destroyed do so without being waited for. */
    while (table->trees) {
        struct process_tree *tree = table->trees;

        table->trees = tree->next;
        tree->table = NULL;
        free_tree(tree);
    }
    close_lock(table);
    uv_close((uv_handle_t *)&table->on_child, on_table_closed);
    uv_close((uv_handle_t *)&table->settle_timer, on_table_closed);
}

const char *process_table_containment(const struct process_table *table)
{
    return table->containment;
}
