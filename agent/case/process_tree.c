/* SPDX-License-Identifier: Apache-2.0 */
/* process_tree.c - manages the processes of a case and all their descendants */
#include "agent/case/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/case/cgroup.h"
#include "agent/case/children.h"
#include "agent/case/process.h"
#include "common/base/memory.h"

#define SCRATCH_BYTES 65536
#define KILL_MS 30000 /* wait for killed processes: a driver may be freeing memory */
#define AGAIN_MS 20   /* pause between two rounds of killing */
/* Limit of children reaped per round, so that many children do not block the loop. */
#define REAP_MAX 200
/* Descriptor on which the child reports why it cannot execute the program. */
#define REPORT_FD 4
/* A child moves its descriptors above this number before numbering them. */
#define ABOVE_FDS 10

struct process_tree {
    uv_loop_t *loop;
    uv_poll_t on_child;
    uv_timer_t timer; /* starts the next round of killing or reaping */
    int signal_fd, cgroup;
    int handles;         /* handles that are not closed yet */
    struct rlimit files; /* RLIMIT_NOFILE of spawned processes */
    struct tree_child *children;
    process_tree_end_fn *on_end;
    void *arg;
    bool is_ending, has_ended;
    uint64_t kill_ms, kill_until; /* kill_until is set once the tree is ending */
    char cgroup_dir[PATH_MAX];
    char scratch[SCRATCH_BYTES];
};

/* ---- the child's side of fork ---- */

void process_tree_close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0)
        return;
#endif
    long max = sysconf(_SC_OPEN_MAX);

    /* Kernels before 5.9 have no close_range. Assume no descriptors above a million. */
    if (max < 0 || max > 1048576)
        max = 1048576;
    for (int fd = first; fd < (int)max; fd++)
        close(fd);
}

static void reset_signals(void)
{
    sigset_t none;

    /* SIGUSR2 requests stacks. It must not kill a program that does not handle it. */
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Number the child's descriptors: stdin from /dev/null, the streams, the report. */
static int number_fds(const int streams[3], int report)
{
    int fds[REPORT_FD + 1] = {open("/dev/null", O_RDONLY), streams[0], streams[1],
                              streams[2], report};

    for (int i = 0; i <= REPORT_FD; i++)
        fds[i] = fcntl(fds[i], F_DUPFD, ABOVE_FDS);
    for (int i = 0; i <= REPORT_FD; i++)
        if (dup2(fds[i], i) < 0)
            return -1;
    process_tree_close_from(REPORT_FD + 1);
    return fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void run_child(const struct process_tree *tree,
                                const struct process_params *params, const int streams[3],
                                int report, pid_t parent)
{
    int32_t code;

    if (number_fds(streams, report))
        _exit(127);
    reset_signals();
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
        getppid() == parent && setrlimit(RLIMIT_NOFILE, &tree->files) == 0 &&
        (!params->cwd || chdir(params->cwd) == 0))
        execve(params->path, params->argv, params->env);
    code = errno ? errno : ECANCELED;
    if (write(REPORT_FD, &code, sizeof(code)) < 0) {
        /* The parent is dead, and its death also kills this process. */
    }
    _exit(127);
}

/* ---- spawning ---- */

/* Returns the errno of the child's failed execve, or 0. */
static int read_report(int fd)
{
    int32_t code = 0;
    ssize_t n;

    do {
        n = read(fd, &code, sizeof(code));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(code) ? code : 0;
}

int process_tree_spawn(struct process_tree *tree, const struct process_params *params,
                       const int streams[3], struct tree_child *child, struct error *err)
{
    pid_t self = getpid(), pid;
    int report[2], code;

    if (pipe2(report, O_CLOEXEC))
        return error_set_errno(err, ERROR_IO, errno, "cannot create a pipe");
    pid = cgroup_fork(tree->cgroup);
    if (pid == 0)
        run_child(tree, params, streams, report[1], self);
    code = errno;
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return error_set_errno(err, ERROR_IO, code, "cannot fork");
    }
    /* The child calls setpgid, too. This call ensures that the group exists before a
     * signal to it. */
    setpgid(pid, pid);
    code = read_report(report[0]);
    close(report[0]);
    if (code) {
        waitpid(pid, NULL, 0);
        return error_set_errno(err, ERROR_IO, code, "cannot run %s%s%s", params->path,
                               params->cwd ? " in " : "", params->cwd ? params->cwd : "");
    }
    child->pid = pid;
    child->next = tree->children;
    tree->children = child;
    return 0;
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
    return tree->loop;
}

uv_buf_t process_tree_scratch(struct process_tree *tree)
{
    return uv_buf_init(tree->scratch, SCRATCH_BYTES);
}

const char *process_tree_cgroup(const struct process_tree *tree)
{
    return tree->cgroup_dir;
}

/* ---- waiting and killing ---- */

static int64_t as_us(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

static struct tree_child *find_child(const struct process_tree *tree, pid_t pid)
{
    struct tree_child *child = tree->children;

    while (child && child->pid != pid)
        child = child->next;
    return child;
}

static void on_step(uv_timer_t *timer);

/* Return false if no child is left. */
static bool reap(struct process_tree *tree)
{
    struct signalfd_siginfo ignored;

    while (read(tree->signal_fd, &ignored, sizeof(ignored)) > 0) {}
    for (int i = 0; i < REAP_MAX; i++) {
        siginfo_t info = {.si_pid = 0};
        struct tree_child *child;
        struct rusage usage;
        int status;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
            return errno != ECHILD;
        if (info.si_pid == 0)
            return true;
        child = find_child(tree, info.si_pid);
        /* Kill the rest of the child's process group while the child is a zombie. Its
         * group number cannot be reused before the zombie is reaped. */
        if (child)
            kill(-child->pid, SIGKILL);
        if (wait4(info.si_pid, &status, 0, &usage) != info.si_pid || !child)
            continue;
        process_tree_forget(tree, child);
        child->usage = (struct process_usage){
            as_us(&usage.ru_utime) + as_us(&usage.ru_stime), usage.ru_nivcsw};
        child->on_exit(child, WIFSIGNALED(status),
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    uv_timer_start(&tree->timer, on_step, 0, 0);
    return true;
}

static void kill_all(const struct process_tree *tree)
{
    cgroup_kill(tree->cgroup_dir);
    children_kill(NULL, NULL);
    /* Spawned children are known even if the kernel does not list children. */
    for (const struct tree_child *child = tree->children; child; child = child->next)
        kill(-child->pid, SIGKILL);
}

static void finish(struct process_tree *tree, bool has_children)
{
    char left[1000] = "";

    tree->has_ended = true;
    uv_timer_stop(&tree->timer);
    uv_poll_stop(&tree->on_child);
    if (has_children) {
        children_describe("", NULL, NULL, left, sizeof(left));
        if (!left[0])
            strcpy(left, "processes that cannot be listed");
    }
    cgroup_remove(tree->cgroup_dir);
    /* Report the rest as killed, because their exit will not be seen. */
    while (tree->children) {
        struct tree_child *child = tree->children;

        process_tree_forget(tree, child);
        child->on_exit(child, true, SIGKILL);
    }
    tree->on_end(tree->arg, left);
}

static void step(struct process_tree *tree)
{
    bool has_children;

    if (tree->is_ending)
        kill_all(tree);
    has_children = reap(tree);
    if (!tree->is_ending || tree->has_ended)
        return;
    if (!has_children || uv_now(tree->loop) >= tree->kill_until)
        finish(tree, has_children);
    else
        uv_timer_start(&tree->timer, on_step, AGAIN_MS, 0);
}

static void on_step(uv_timer_t *timer)
{
    step(timer->data);
}

static void on_child(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    step(poll->data);
}

void process_tree_end(struct process_tree *tree)
{
    if (tree->is_ending)
        return;
    tree->is_ending = true;
    uv_update_time(tree->loop);
    tree->kill_until = uv_now(tree->loop) + tree->kill_ms;
    uv_timer_start(&tree->timer, on_step, 0, 0);
}

void process_tree_limit(struct process_tree *tree, uint64_t kill_ms)
{
    tree->kill_ms = kill_ms;
}

/* ---- start ---- */

/* Each rank needs three pipes; the usual limit is 1024 open files. */
static void raise_file_limit(struct process_tree *tree)
{
    struct rlimit raised;

    getrlimit(RLIMIT_NOFILE, &tree->files);
    raised = tree->files;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

struct process_tree *process_tree_create(uv_loop_t *loop, process_tree_end_fn *on_end,
                                         void *arg, struct error *err)
{
    struct process_tree *tree = memory_zeroed(1, sizeof(*tree), "a process tree");
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    tree->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (tree->signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
        error_set_errno(err, ERROR_IO, errno, "cannot watch child processes");
        free(tree);
        return NULL;
    }
    tree->loop = loop;
    tree->on_end = on_end;
    tree->arg = arg;
    tree->kill_ms = KILL_MS;
    raise_file_limit(tree);
    tree->cgroup = cgroup_make(tree->cgroup_dir, sizeof(tree->cgroup_dir));
    uv_timer_init(loop, &tree->timer);
    /* Neither call can fail on a fresh descriptor with a free handle. */
    uv_poll_init(loop, &tree->on_child, tree->signal_fd);
    uv_poll_start(&tree->on_child, UV_READABLE, on_child);
    tree->timer.data = tree->on_child.data = tree;
    tree->handles = 2;
    return tree;
}

static void on_closed(uv_handle_t *handle)
{
    struct process_tree *tree = handle->data;

    if (--tree->handles > 0)
        return;
    close(tree->signal_fd);
    if (tree->cgroup >= 0)
        close(tree->cgroup);
    free(tree);
}

void process_tree_destroy(struct process_tree *tree)
{
    if (!tree)
        return;
    uv_close((uv_handle_t *)&tree->timer, on_closed);
    uv_close((uv_handle_t *)&tree->on_child, on_closed);
}
