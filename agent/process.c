/* process.c - child processes: fork, pipes, reaping */
#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_CHUNK 65536
#define DRAIN_MS 1000
#define FIRST_FREE_FD 10 /* above every descriptor that a worker is given */

struct process_table {
    uv_loop_t *loop;
    uv_signal_t on_child;
    struct rlimit files; /* as it was for this program: what children get */
    struct process *first;
    char chunk[READ_CHUNK]; /* what any pipe is read into */
};

struct process {
    struct process_table *table;
    struct process *next;
    struct process_handlers handlers;
    pid_t pid;
    int status; /* of waitpid, once it has ended */
    bool has_ended, is_paused, is_destroyed;
    int open_pipes; /* not yet read to their end */
    int handles;    /* not yet closed */
    uv_pipe_t pipes[PROCESS_STREAMS];
    uv_timer_t drain;
};

/* ---- the child's side of fork: async-signal-safe calls only ---- */

static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0)
        return;
#endif
    long max = sysconf(_SC_OPEN_MAX);

    /* Kernels before 5.9. Beyond a million nobody has descriptors open. */
    if (max < 0 || max > 1048576)
        max = 1048576;
    for (int fd = first; fd < (int)max; fd++)
        close(fd);
}

static void reset_signals(void)
{
    struct sigaction action;
    sigset_t none;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    for (int i = 1; i < NSIG; i++) {
        if (i != SIGKILL && i != SIGSTOP)
            sigaction(i, &action, NULL);
    }
    /* It asks for stacks: no reason to die for a program that does not know it. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void fail_child(int report)
{
    int code = errno;
    ssize_t n = write(report, &code, sizeof(code));

    (void)n;
    _exit(127);
}

/* Become the program; fds are its stdin, stdout, stderr, events and the report pipe, all
 * of them at FIRST_FREE_FD or above. */
static _Noreturn void run_child(const struct process_params *params,
                                const struct rlimit *files, const int fds[5],
                                pid_t parent)
{
    int report = 4;

    reset_signals();
    if (setpgid(0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        fail_child(fds[4]);
    for (int i = 0; i < 5; i++) {
        if (dup2(fds[i], i) < 0)
            fail_child(fds[4]);
    }
    fcntl(report, F_SETFD, FD_CLOEXEC);
    close_from(report + 1);
    setrlimit(RLIMIT_NOFILE, files);
    if (params->cwd && chdir(params->cwd))
        fail_child(report);
    execve(params->path, params->argv, params->env);
    fail_child(report);
}

/* ---- the parent's side ---- */

/* Move a descriptor up, so that dup2 in the child never hits one that is still needed. */
static int move_up(int *fd)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

    if (moved < 0)
        return -1;
    close(*fd);
    *fd = moved;
    return 0;
}

struct pipe_ends {
    int here[PROCESS_STREAMS + 1];  /* read ends: stdout, stderr, events, report */
    int child[PROCESS_STREAMS + 2]; /* stdin, then the write ends */
};

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

static void close_ends(struct pipe_ends *ends)
{
    close_all(ends->here, PROCESS_STREAMS + 1);
    close_all(ends->child, PROCESS_STREAMS + 2);
}

static int open_ends(struct pipe_ends *ends)
{
    memset(ends, 0xff, sizeof(*ends));
    ends->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (ends->child[0] < 0 || move_up(&ends->child[0]))
        return -1;
    for (int i = 0; i <= PROCESS_STREAMS; i++) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC))
            return -1;
        ends->here[i] = fds[0];
        ends->child[i + 1] = fds[1];
        if (move_up(&ends->child[i + 1]))
            return -1;
    }
    return 0;
}

/* Wait until the child has become the program (its report pipe closes) or has failed. */
static int read_report(int fd, int *code)
{
    ssize_t n;

    do {
        n = read(fd, code, sizeof(*code));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*code) ? -1 : 0;
}

static pid_t fork_program(const struct process_params *params, const struct rlimit *files,
                          struct pipe_ends *ends, struct error *err)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    int code = 0;

    if (pid == 0)
        run_child(params, files, ends->child, parent);
    if (pid < 0)
        return error_set_errno(err, ERROR_IO, errno, "can't fork");
    /* Here too, so that a signal to the group can't come before the child's own call. */
    setpgid(pid, pid);
    close_all(ends->child, PROCESS_STREAMS + 2);
    if (read_report(ends->here[PROCESS_STREAMS], &code) == 0)
        return pid;
    waitpid(pid, NULL, 0);
    return error_set_errno(err, ERROR_IO, code, "can't run %s%s%s", params->path,
                           params->cwd ? " in " : "", params->cwd ? params->cwd : "");
}

static void free_when_closed(struct process *process)
{
    if (process->is_destroyed && process->handles == 0)
        free(process);
}

static void on_closed(uv_handle_t *handle)
{
    struct process *process = handle->data;

    process->handles--;
    free_when_closed(process);
}

static void close_handle(struct process *process, uv_handle_t *handle)
{
    (void)process;
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

static void unlink_process(struct process *process)
{
    struct process **at = &process->table->first;

    while (*at && *at != process)
        at = &(*at)->next;
    if (*at)
        *at = process->next;
}

static void end(struct process *process)
{
    bool is_signal = WIFSIGNALED(process->status);

    uv_timer_stop(&process->drain);
    process->handlers.on_end(process->handlers.arg, is_signal,
                             is_signal ? WTERMSIG(process->status)
                                       : WEXITSTATUS(process->status));
}

static void close_pipe(struct process *process, uv_handle_t *handle)
{
    if (uv_is_closing(handle))
        return;
    process->open_pipes--;
    close_handle(process, handle);
}

/* A loop that was late sees its timers before its pipes: what the process wrote may still
 * be there, at most what fits into the pipe. */
static void read_rest(struct process *process, enum process_stream which)
{
    char *chunk = process->table->chunk;
    long left;
    int fd;

    if (uv_fileno((uv_handle_t *)&process->pipes[which], &fd))
        return;
    left = fcntl(fd, F_GETPIPE_SZ);
    while (left > 0 && !process->is_paused) {
        ssize_t n = read(fd, chunk, READ_CHUNK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        process->handlers.on_data(process->handlers.arg, which, chunk, (size_t)n);
        left -= n;
    }
}

static void on_drain_timeout(uv_timer_t *timer)
{
    struct process *process = timer->data;

    for (int i = 0; i < PROCESS_STREAMS; i++)
        read_rest(process, (enum process_stream)i);
    /* While the agent itself does not read, the pipes can't come to their end. */
    if (process->is_paused) {
        uv_timer_start(timer, on_drain_timeout, DRAIN_MS, 0);
        return;
    }
    for (int i = 0; i < PROCESS_STREAMS; i++)
        close_pipe(process, (uv_handle_t *)&process->pipes[i]);
    end(process);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct process *process = handle->data;

    (void)suggested;
    *buf = uv_buf_init(process->table->chunk, READ_CHUNK);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct process *process = stream->data;
    enum process_stream which =
        (enum process_stream)((uv_pipe_t *)stream - process->pipes);

    if (n > 0)
        process->handlers.on_data(process->handlers.arg, which, buf->base, (size_t)n);
    if (n >= 0)
        return;
    close_pipe(process, (uv_handle_t *)stream);
    if (process->open_pipes == 0 && process->has_ended)
        end(process);
}

static void take_ends(struct process *process, struct pipe_ends *ends)
{
    uv_loop_t *loop = process->table->loop;

    uv_timer_init(loop, &process->drain);
    process->drain.data = process;
    process->handles = 1 + PROCESS_STREAMS;
    process->open_pipes = PROCESS_STREAMS;
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        uv_pipe_t *pipe = &process->pipes[i];

        uv_pipe_init(loop, pipe, 0);
        pipe->data = process;
        /* Neither can fail on a fresh pipe with a free handle. */
        uv_pipe_open(pipe, ends->here[i]);
        uv_read_start((uv_stream_t *)pipe, on_alloc, on_read);
        ends->here[i] = -1;
    }
}

struct process *process_spawn(struct process_table *table,
                              const struct process_params *params,
                              const struct process_handlers *handlers, struct error *err)
{
    struct process *process = calloc(1, sizeof(*process));
    struct pipe_ends ends;

    if (!process) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    if (open_ends(&ends)) {
        error_set_errno(err, ERROR_IO, errno, "can't make pipes");
        goto fail;
    }
    process->pid = fork_program(params, &table->files, &ends, err);
    if (process->pid < 0)
        goto fail;
    process->table = table;
    process->handlers = *handlers;
    take_ends(process, &ends);
    close_ends(&ends);
    process->next = table->first;
    table->first = process;
    return process;
fail:
    close_ends(&ends);
    free(process);
    return NULL;
}

pid_t process_pid(const struct process *process)
{
    return process->pid;
}

void process_signal(struct process *process, int signum)
{
    if (!process->has_ended)
        kill(-process->pid, signum);
}

void process_signal_leader(struct process *process, int signum)
{
    if (!process->has_ended)
        kill(process->pid, signum);
}

void process_pause(struct process *process)
{
    process->is_paused = true;
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        if (!uv_is_closing((uv_handle_t *)&process->pipes[i]))
            uv_read_stop((uv_stream_t *)&process->pipes[i]);
    }
}

void process_resume(struct process *process)
{
    process->is_paused = false;
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        if (!uv_is_closing((uv_handle_t *)&process->pipes[i]))
            uv_read_start((uv_stream_t *)&process->pipes[i], on_alloc, on_read);
    }
}

/* Take the zombie away. While it is one, its number can't be given to another group, so
 * this is the moment to kill what it left behind in its group. */
static void reap(struct process *process)
{
    kill(-process->pid, SIGKILL);
    while (waitpid(process->pid, &process->status, 0) < 0 && errno == EINTR) {}
    process->has_ended = true;
}

void process_destroy(struct process *process)
{
    if (!process)
        return;
    if (!process->has_ended)
        reap(process);
    unlink_process(process);
    process->is_destroyed = true;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        close_handle(process, (uv_handle_t *)&process->pipes[i]);
    close_handle(process, (uv_handle_t *)&process->drain);
    free_when_closed(process);
}

static bool is_zombie(pid_t pid)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

static struct process *find_zombie(const struct process_table *table)
{
    for (struct process *p = table->first; p; p = p->next) {
        if (!p->has_ended && is_zombie(p->pid))
            return p;
    }
    return NULL;
}

/* Handlers may destroy processes, so the list is searched anew after each. */
static void on_child(uv_signal_t *handle, int signum)
{
    struct process_table *table = handle->data;
    struct process *process;

    (void)signum;
    for (process = find_zombie(table); process; process = find_zombie(table)) {
        reap(process);
        if (process->open_pipes == 0)
            end(process);
        else
            uv_timer_start(&process->drain, on_drain_timeout, DRAIN_MS, 0);
    }
}

static void on_table_closed(uv_handle_t *handle)
{
    free(handle->data);
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

struct process_table *process_table_create(uv_loop_t *loop, struct error *err)
{
    struct process_table *table = calloc(1, sizeof(*table));
    int result;

    if (!table) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    table->loop = loop;
    raise_file_limit(table);
    result = uv_signal_init(loop, &table->on_child);
    if (result == 0) {
        table->on_child.data = table;
        result = uv_signal_start(&table->on_child, on_child, SIGCHLD);
    }
    if (result == 0)
        return table;
    error_set(err, ERROR_INTERNAL, "can't watch child processes: %s",
              uv_strerror(result));
    free(table);
    return NULL;
}

void process_table_destroy(struct process_table *table)
{
    if (table)
        uv_close((uv_handle_t *)&table->on_child, on_table_closed);
}
