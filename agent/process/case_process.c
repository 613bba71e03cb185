/* SPDX-License-Identifier: Apache-2.0 */
/* case_process.c - starts and watches ringbench-case, one process per case */
#include "agent/process/case_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/case/cgroup.h"
#include "agent/case/children.h"
#include "agent/case/lines.h"
#include "common/base/beside.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define PROGRAM "ringbench-case"
#define LOCK_NAME "cases"
#define LINE_MAX_BYTES ((size_t)8 << 20) /* above the 3 MiB of the largest artifact */
#define END_MS 50000 /* above ringbench-case's own limits: stacks, SIGTERM, SIGKILL */
#define AGAIN_MS 20  /* between two rounds of killing orphans */
#define ORPHANS_MS 30000
#define CHUNK_BYTES 65536
#define EARLIER_MAX 256

struct case_table {
    uv_loop_t *loop;
    uv_signal_t on_child;
    uv_timer_t timer; /* for rounds of killing, and for deadlines */
    int handles;      /* not yet closed */
    struct case_process *all;
    /* Children that existed before the table and belong to no case, such as those of a
     * container's entrypoint that executed the agent. */
    pid_t earlier[EARLIER_MAX];
    size_t n_earlier;
    const char *containment;
    const char *root; /* prefix of /proc */
    uint64_t end_ms;
    /* A locked file. This process and its case processes share the open file, so the lock
     * lasts until the last of these processes has ended. -1: none. */
    int lock;
    bool has_lock;
    char lock_path[PATH_MAX];
    char program[PATH_MAX];
    char chunk[CHUNK_BYTES]; /* read buffer of all case processes */
};

struct case_process {
    struct case_table *table; /* NULL: the table is destroyed */
    struct case_process *next;
    struct case_handlers handlers;
    pid_t pid;
    uv_pipe_t pipe;
    struct lines lines;
    bool has_greeted; /* the first line is read */
    bool is_foreign;  /* the first line has another build's protocol */
    bool is_read;     /* all output is read */
    bool is_reaped;
    bool is_orderly; /* exited with status 0 */
    bool is_clear;   /* no descendant is left */
    bool is_paused, is_killed, is_closed, is_destroyed;
    bool has_ended; /* on_end was called */
    int status;
    uint64_t end_until;     /* deadline after a stop; 0: not stopped */
    uint64_t orphans_until; /* deadline for killing orphans */
    char cgroup[1000], left[1000];
};

static void schedule(struct case_table *table, uint64_t wait_ms);

/* ---- the list ---- */

static void free_process(struct case_process *process)
{
    struct case_process **at = process->table ? &process->table->all : NULL;

    if (!process->is_destroyed || !process->is_closed ||
        (!process->is_reaped && process->table))
        return;
    while (at && *at && *at != process)
        at = &(*at)->next;
    if (at && *at)
        *at = process->next;
    lines_release(&process->lines);
    free(process);
}

/* Returns n_earlier if there is none. */
static size_t find_earlier(const struct case_table *table, pid_t pid)
{
    size_t i = 0;

    while (i < table->n_earlier && table->earlier[i] != pid)
        i++;
    return i;
}

/* True for children that existed before the table, and for case processes. All other
 * children are orphans of a case process. */
static bool is_no_orphan(const void *arg, pid_t pid)
{
    const struct case_table *table = arg;
    const struct case_process *process = table->all;

    if (find_earlier(table, pid) < table->n_earlier)
        return true;
    while (process && (process->is_reaped || process->pid != pid))
        process = process->next;
    return process != NULL;
}

static bool has_orphans(const struct case_process *process)
{
    return process->is_reaped && !process->is_clear && !process->is_destroyed;
}

static bool any_orphans(const struct case_table *table)
{
    const struct case_process *process = table->all;

    while (process && !has_orphans(process))
        process = process->next;
    return process != NULL;
}

bool case_table_lingers(const struct case_table *table, char *text, size_t size)
{
    *text = '\0';
    if (!any_orphans(table))
        children_describe(table->root, is_no_orphan, table, text, size);
    return *text != '\0';
}

/* ---- events ---- */

static void kill_process(struct case_process *process)
{
    if (process->is_reaped || process->is_killed)
        return;
    process->is_killed = true;
    kill(process->pid, SIGKILL);
}

static void read_hello(struct case_process *process, const char *line, size_t len)
{
    char text[sizeof(process->cgroup) + 32];
    int protocol = 0, at = 0;

    process->has_greeted = true;
    snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : 0), line);
    if (sscanf(text, "c %d %n", &protocol, &at) != 1 || protocol != CASE_PROTOCOL) {
        process->is_foreign = true;
        kill_process(process);
        return;
    }
    snprintf(process->cgroup, sizeof(process->cgroup), "%s", text + at);
}

static void on_line(void *arg, const char *line, size_t len, size_t dropped)
{
    struct case_process *process = arg;
    char kind, *end;
    long rank;

    if (!process->has_greeted) {
        read_hello(process, line ? line : "", len);
        return;
    }
    if (process->is_foreign || process->is_destroyed)
        return;
    if (!line || len < 3) {
        log_error("ignored a line of %zu bytes from " PROGRAM " %d", line ? len : dropped,
                  (int)process->pid);
        return;
    }
    kind = line[0];
    if (kind == EVENT_LEFT) {
        snprintf(process->left, sizeof(process->left), "%.*s", (int)(len - 2), line + 2);
        return;
    }
    rank = strtol(line + 2, &end, 10);
    if (end < line + len)
        process->handlers.on_event(process->handlers.arg, (enum event_kind)kind,
                                   (int)rank, end + 1, len - (size_t)(end + 1 - line));
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const struct case_process *process = handle->data;

    (void)suggested;
    *buf = uv_buf_init(process->table->chunk, CHUNK_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct case_process *process = stream->data;

    if (n > 0)
        lines_feed(&process->lines, buf->base, (size_t)n, on_line, process);
    if (n >= 0)
        return;
    uv_read_stop(stream);
    process->is_read = true;
    schedule(process->table, 0);
}

/* ---- its end ---- */

static void note_reaped(struct case_process *process, int status)
{
    process->is_reaped = true;
    process->status = status;
    process->is_orderly = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    process->is_clear = process->is_orderly;
    if (process->is_orderly || process->is_destroyed) {
        free_process(process);
        return;
    }
    log_error(PROGRAM " %d died unexpectedly: killing its processes", (int)process->pid);
    process->orphans_until = uv_now(process->table->loop) + ORPHANS_MS;
    cgroup_kill(process->cgroup);
}

static void reap(struct case_table *table)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct case_process *process = table->all;

        while (process && (process->is_reaped || process->pid != pid))
            process = process->next;
        if (process)
            note_reaped(process, status);
        else if (find_earlier(table, pid) < table->n_earlier) /* the pid may be reused */
            table->earlier[find_earlier(table, pid)] = table->earlier[--table->n_earlier];
    }
}

static void give_up_orphans(struct case_process *process)
{
    children_describe("", is_no_orphan, process->table, process->left,
                      sizeof(process->left));
    cgroup_remove(process->cgroup);
    process->is_clear = true;
}

static void end(struct case_process *process)
{
    bool has_failed =
        !process->is_orderly || process->is_foreign || !process->has_greeted;
    char fault[PATH_MAX + 128];
    struct case_end end = {has_failed ? fault : NULL, process->left};
    int status = process->status;

    if (process->is_foreign)
        snprintf(fault, sizeof(fault),
                 "%s comes from a different build than this agent: restart the agent",
                 process->table->program);
    else
        snprintf(fault, sizeof(fault), "its process " PROGRAM " %d %s %d",
                 (int)process->pid,
                 WIFSIGNALED(status) ? "was killed by signal" : "exited with status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    process->handlers.on_end(process->handlers.arg, &end);
}

/* Advance one case process. Returns false if none can advance. Handlers may start and
 * destroy case processes, so each step searches the list again. */
static bool advance_one(struct case_table *table, size_t n_orphans)
{
    uint64_t now = uv_now(table->loop);

    for (struct case_process *process = table->all; process; process = process->next) {
        if (has_orphans(process) && (n_orphans == 0 || now >= process->orphans_until)) {
            give_up_orphans(process);
            return true;
        }
        if (process->is_clear && process->is_read && !process->has_ended &&
            !process->is_destroyed) {
            process->has_ended = true;
            end(process);
            return true;
        }
    }
    return false;
}

static void kill_late(struct case_table *table)
{
    uint64_t now = uv_now(table->loop);

    for (struct case_process *process = table->all; process; process = process->next) {
        /* The deadline does not apply while reading is paused, because the process may be
         * blocked while it writes its last events. */
        if (process->end_until == 0 || process->is_reaped || process->is_killed ||
            process->is_paused)
            continue;
        if (now < process->end_until) {
            schedule(table, process->end_until - now);
            continue;
        }
        log_error(PROGRAM " %d did not end within %d s of the stop: killing it and its "
                          "processes",
                  (int)process->pid, (int)(table->end_ms / 1000));
        kill_process(process);
    }
}

static void settle(struct case_table *table)
{
    size_t n_orphans;

    reap(table);
    n_orphans = any_orphans(table) ? children_kill(is_no_orphan, table) : 0;
    while (advance_one(table, n_orphans)) {}
    if (any_orphans(table))
        schedule(table, AGAIN_MS);
    kill_late(table);
}

static void on_timer(uv_timer_t *timer)
{
    settle(timer->data);
}

/* Run settle() after wait_ms, or earlier if that is already scheduled. */
static void schedule(struct case_table *table, uint64_t wait_ms)
{
    if (!uv_is_active((const uv_handle_t *)&table->timer) ||
        uv_timer_get_due_in(&table->timer) > wait_ms)
        uv_timer_start(&table->timer, on_timer, wait_ms, 0);
}

static void on_child(uv_signal_t *handle, int signum)
{
    (void)signum;
    settle(handle->data);
}

/* ---- start and commands ---- */

struct sent {
    uv_write_t request;
    char *text;
};

static void on_sent(uv_write_t *request, int status)
{
    struct sent *sent = request->data;

    (void)status; /* if the write failed, the process has died */
    free(sent->text);
    free(sent);
}

/* Takes ownership of the text. */
static void send_text(struct case_process *process, char *text)
{
    struct sent *sent = memory_zeroed(1, sizeof(*sent), "a command");
    uv_buf_t bufs[2] = {uv_buf_init(text, (unsigned)strlen(text)),
                        uv_buf_init((char *)(uintptr_t) "\n", 1)};

    sent->text = text;
    sent->request.data = sent;
    if (uv_write(&sent->request, (uv_stream_t *)&process->pipe, bufs, 2, on_sent))
        on_sent(&sent->request, -1);
}

/* Use posix_spawn, because this program has threads and fork would copy its page tables.
 * The child gets its own session, so that a terminal's hangup does not reach it. Its
 * environment contains only the log level and LD_LIBRARY_PATH, because the agent's
 * environment may contain secrets. */
static int spawn_program(const struct case_table *table, int socket, pid_t *pid)
{
    const char *folders = getenv("LD_LIBRARY_PATH");
    char name[] = PROGRAM, level[64], *libraries = NULL;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    int code;

    snprintf(level, sizeof(level), "RINGBENCH_LOG_LEVEL=%s", log_level_name());
    if (folders && asprintf(&libraries, "LD_LIBRARY_PATH=%s", folders) < 0)
        memory_out("an environment");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    if (table->lock >= 0)
        posix_spawn_file_actions_adddup2(&actions, table->lock, CASE_LOCK_FD);
    posix_spawnattr_init(&attributes);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    code = posix_spawn(pid, table->program, &actions, &attributes, (char *[]){name, NULL},
                       (char *[]){level, libraries, NULL});
    free(libraries);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

struct case_process *case_process_start(struct case_table *table, json_t *document,
                                        const struct case_handlers *handlers,
                                        struct error *err)
{
    struct case_process *process;
    int ends[2], moved, code;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        error_set_errno(err, ERROR_IO, errno, "cannot create a socket pair");
        return NULL;
    }
    /* Move the socket above the child's fixed descriptors. */
    moved = fcntl(ends[1], F_DUPFD_CLOEXEC, CASE_LOCK_FD + 1);
    close(ends[1]);
    code = moved < 0 ? errno : spawn_program(table, moved, &pid);
    if (moved >= 0)
        close(moved);
    if (code) {
        close(ends[0]);
        error_set_errno(err, ERROR_IO, code, "cannot run %s", table->program);
        return NULL;
    }
    process = memory_zeroed(1, sizeof(*process), "a case's process");
    process->table = table;
    process->handlers = *handlers;
    process->pid = pid;
    process->next = table->all;
    table->all = process;
    lines_init(&process->lines, LINE_MAX_BYTES, LINES_DROP);
    uv_pipe_init(table->loop, &process->pipe, 0);
    process->pipe.data = process;
    /* Neither call can fail on a fresh socket with a free handle. */
    uv_pipe_open(&process->pipe, ends[0]);
    uv_read_start((uv_stream_t *)&process->pipe, on_alloc, on_read);
    send_text(process, json_text(document));
    return process;
}

static void set_deadline(struct case_process *process)
{
    struct case_table *table = process->table;

    uv_update_time(table->loop);
    process->end_until = uv_now(table->loop) + table->end_ms;
    schedule(table, table->end_ms);
}

void case_process_stop(struct case_process *process, bool with_stacks)
{
    if (process->end_until)
        return;
    send_text(process, memory_text(with_stacks ? "stacks" : "stop", "a command"));
    set_deadline(process);
}

void case_process_pause(struct case_process *process, bool is_paused)
{
    if (process->is_read || process->is_paused == is_paused)
        return;
    process->is_paused = is_paused;
    if (is_paused) {
        uv_read_stop((uv_stream_t *)&process->pipe);
        return;
    }
    uv_read_start((uv_stream_t *)&process->pipe, on_alloc, on_read);
    if (process->end_until)
        set_deadline(process);
}

static void on_closed(uv_handle_t *handle)
{
    struct case_process *process = handle->data;

    process->is_closed = true;
    free_process(process);
}

/* SIGCONT resumes a stopped process, which then reads the end of its input. */
void case_process_destroy(struct case_process *process)
{
    if (!process)
        return;
    process->is_destroyed = true;
    if (!process->is_reaped)
        kill(process->pid, SIGCONT);
    uv_close((uv_handle_t *)&process->pipe, on_closed);
}

/* ---- the table ---- */

void case_table_set_root(struct case_table *table, const char *root)
{
    table->root = root;
}

void case_table_limit(struct case_table *table, uint64_t end_ms)
{
    table->end_ms = end_ms;
}

static int open_lock(struct case_table *table, const char *dir, struct error *err)
{
    table->lock = -1;
    if (!dir)
        return 0;
    if (snprintf(table->lock_path, PATH_MAX, "%s/" LOCK_NAME, dir) >= PATH_MAX)
        return error_set(err, ERROR_INVALID,
                         "the path of the spool directory %.60s... is too long", dir);
    table->lock = open(table->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (table->lock < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot open %s", table->lock_path);
    return 0;
}

bool case_table_is_alone(struct case_table *table)
{
    if (!table->has_lock && table->lock >= 0)
        table->has_lock = flock(table->lock, LOCK_EX | LOCK_NB) == 0;
    return table->has_lock || table->lock < 0;
}

/* Remove the lock file, unless a remaining case process still holds the lock. */
static void close_lock(struct case_table *table)
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

/* Report the containment that case processes will get: create a cgroup as they do, then
 * remove it. */
static const char *find_containment(void)
{
    char dir[PATH_MAX];
    int cgroup = cgroup_make(dir, sizeof(dir));

    cgroup_remove(dir);
    if (cgroup < 0)
        return "subreaper";
    close(cgroup);
    return "cgroup";
}

struct case_table *case_table_create(uv_loop_t *loop, const char *dir, struct error *err)
{
    struct case_table *table = memory_zeroed(1, sizeof(*table), "a table of cases");
    int result;

    if (beside_program(PROGRAM, table->program)) {
        error_set(err, ERROR_INTERNAL, "cannot find the directory of this program");
        goto fail;
    }
    if (open_lock(table, dir, err))
        goto fail;
    table->loop = loop;
    table->root = "";
    table->end_ms = END_MS;
    table->containment = find_containment();
    table->n_earlier = children_list(table->earlier, EARLIER_MAX);
    /* Orphans of a killed case process become children of this process, not of init. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    result = uv_signal_init(loop, &table->on_child);
    if (result == 0)
        result = uv_signal_start(&table->on_child, on_child, SIGCHLD);
    if (result) {
        error_set(err, ERROR_INTERNAL, "cannot watch child processes: %s",
                  uv_strerror(result));
        close_lock(table);
        goto fail;
    }
    uv_timer_init(loop, &table->timer);
    table->on_child.data = table->timer.data = table;
    table->handles = 2;
    return table;
fail:
    free(table);
    return NULL;
}

static void on_table_closed(uv_handle_t *handle)
{
    struct case_table *table = handle->data;

    if (--table->handles == 0)
        free(table);
}

void case_table_destroy(struct case_table *table)
{
    if (!table)
        return;
    /* Case processes that still kill their processes finish without the agent. */
    while (table->all) {
        struct case_process *process = table->all;

        table->all = process->next;
        process->table = NULL;
        free_process(process);
    }
    close_lock(table);
    uv_close((uv_handle_t *)&table->on_child, on_table_closed);
    uv_close((uv_handle_t *)&table->timer, on_table_closed);
}

const char *case_table_containment(const struct case_table *table)
{
    return table->containment;
}
