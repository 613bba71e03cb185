/* main.c - ringbench-reaper: the parent of a case's processes on a node
 *
 * One per case, started by the agent. It is a subreaper, so what daemonises stays below
 * it, and it ends when nothing is left below it. When the agent has died (end of file on
 * the socket, however it died) it kills all. Should it be killed itself, those that it
 * started die by their parent-death signal and the rest falls to the agent, a subreaper
 * too. So something survives only where both are killed at once, by pid.
 *
 * A program of its own rather than the agent forked: the agent has threads and can't do
 * much after a fork, and who kills agents by name should not hit it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/reaper/cgroup.h"
#include "agent/reaper/children.h"
#include "agent/reaper/protocol.h"

/* For what was killed to die: a driver may have to let go of memory. */
#define KILL_S 30
#define AGAIN_MS 20  /* between two rounds of killing */
#define REAP_MAX 200 /* at once: a flood of them must not keep requests waiting */

struct reaper {
    int on_child; /* signalfd */
    int cgroup;
    char cgroup_dir[REAPER_TEXT_MAX];
    pid_t *leaders; /* what was spawned and has not been waited for */
    size_t n_leaders, room;
    bool is_full;      /* the socket, until it can be written again */
    bool is_deaf;      /* the agent has gone */
    bool is_behind;    /* more have ended than were waited for */
    time_t kill_until; /* 0: the case goes on */
};

static time_t now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- the child's side of fork ---- */

struct program {
    const char *path, *cwd;
    char **argv, **env;
    struct rlimit files;
};

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
    sigset_t none;

    /* It asks for stacks: no reason to die for a program that does not know it. */
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void report(int fd, int number)
{
    int32_t code = number;
    ssize_t n = write(fd, &code, sizeof(code));

    (void)n; /* an agent that does not read has died */
}

/* The descriptors that came are all above those that they become. */
static _Noreturn void run_child(const struct program *program, const int fds[REAPER_FDS],
                                pid_t parent)
{
    const int to = REAPER_FD_REPORT;

    report(fds[REAPER_FD_REPORT], getpid());
    for (int i = REAPER_FD_STDOUT; i < REAPER_FDS; i++)
        dup2(fds[i], i);
    fcntl(to, F_SETFD, FD_CLOEXEC);
    close_from(to + 1);
    reset_signals();
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
        getppid() == parent && setrlimit(RLIMIT_NOFILE, &program->files) == 0 &&
        (!program->cwd[0] || chdir(program->cwd) == 0))
        execve(program->path, program->argv, program->env);
    report(to, errno ? errno : ECANCELED);
    _exit(127);
}

/* ---- spawning ---- */

static size_t count_strings(const char *data, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += data[i] == '\0';
    return n;
}

/* Point into the strings; the vector is to be freed. */
static char **read_program(struct program *program, char *data, size_t len, int argc)
{
    size_t n = count_strings(data, len);
    char **at = n >= (size_t)argc + 2 ? calloc(n + 2, sizeof(*at)) : NULL;

    if (!at)
        return NULL;
    program->path = data;
    data += strlen(data) + 1;
    program->cwd = data;
    program->argv = at;
    program->env = at + argc + 1;
    for (size_t i = 0; i < n - 2; i++) {
        data += strlen(data) + 1;
        program->argv[i < (size_t)argc ? i : i + 1] = data;
    }
    return at;
}

static int note_leader(struct reaper *reaper, pid_t pid)
{
    reaper->leaders[reaper->n_leaders++] = pid;
    /* Here too, so that a signal to the group can't come before the child's own call. */
    return setpgid(pid, pid);
}

static int make_room(struct reaper *reaper)
{
    size_t room = reaper->room ? 2 * reaper->room : 16;
    pid_t *leaders;

    if (reaper->n_leaders < reaper->room)
        return 0;
    leaders = realloc(reaper->leaders, room * sizeof(*leaders));
    if (!leaders)
        return -1;
    reaper->leaders = leaders;
    reaper->room = room;
    return 0;
}

static int fork_program(struct reaper *reaper, const struct program *program,
                        const int fds[REAPER_FDS])
{
    pid_t self = getpid();
    pid_t pid = make_room(reaper) ? -1 : cgroup_fork(reaper->cgroup);

    if (pid == 0)
        run_child(program, fds, self);
    if (pid > 0)
        note_leader(reaper, pid);
    return pid > 0 ? 0 : -1;
}

static void spawn(struct reaper *reaper, const struct reaper_request *request,
                  const int fds[REAPER_FDS])
{
    struct program program = {.files = request->files};
    char *data = MAP_FAILED, **vector = NULL;
    struct stat st;

    if (fstat(fds[REAPER_FD_STRINGS], &st) == 0 && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
                    fds[REAPER_FD_STRINGS], 0);
    if (data != MAP_FAILED)
        vector = read_program(&program, data, (size_t)st.st_size, request->argc);
    if (!vector || fork_program(reaper, &program, fds))
        report(fds[REAPER_FD_REPORT], -errno);
    free(vector);
    if (data != MAP_FAILED)
        munmap(data, (size_t)st.st_size);
}

/* ---- the end of all ---- */

static void end_all(struct reaper *reaper)
{
    if (!reaper->kill_until)
        reaper->kill_until = now_s() + KILL_S;
}

static void go_deaf(struct reaper *reaper)
{
    reaper->is_deaf = true;
    end_all(reaper);
}

/* ---- waiting ---- */

static size_t find_leader(const struct reaper *reaper, pid_t pid)
{
    size_t i = 0;

    while (i < reaper->n_leaders && reaper->leaders[i] != pid)
        i++;
    return i;
}

/* A child that has ended. */
struct ended {
    siginfo_t info; /* si_pid 0: there is none */
    struct rusage usage;
};

/* It stays a zombie. The C library's waitid does not ask for the usage. */
static int look_at_ended(struct ended *ended)
{
    return (int)syscall(SYS_waitid, P_ALL, 0, &ended->info, WEXITED | WNOHANG | WNOWAIT,
                        &ended->usage);
}

/* -1: there is no room now. */
static int tell(struct reaper *reaper, const struct reaper_reply *reply)
{
    size_t len = offsetof(struct reaper_reply, text) + strlen(reply->text) + 1;

    if (reaper->is_deaf ||
        send(REAPER_SOCKET, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 0;
    reaper->is_full = errno == EAGAIN;
    if (errno == EAGAIN || errno == EINTR)
        return -1;
    go_deaf(reaper);
    return 0;
}

static int64_t as_us(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

static int tell_exit(struct reaper *reaper, const struct ended *ended)
{
    struct reaper_reply reply = {
        .type = REAPER_EXIT,
        .pid = ended->info.si_pid,
        .is_signal = ended->info.si_code != CLD_EXITED,
        .number = ended->info.si_status,
        .cpu_us = as_us(&ended->usage.ru_utime) + as_us(&ended->usage.ru_stime),
        .involuntary = ended->usage.ru_nivcsw,
    };

    return tell(reaper, &reply);
}

/* A zombie's number can't be given to another group: the moment to kill what it left
 * behind in its group. It stays one until the agent can be told: nothing else has to
 * queue what the agent has not read. */
static int end_leader(struct reaper *reaper, size_t place, const struct ended *ended)
{
    kill(-ended->info.si_pid, SIGKILL);
    if (tell_exit(reaper, ended))
        return -1;
    reaper->leaders[place] = reaper->leaders[--reaper->n_leaders];
    return 0;
}

/* Wait for those that have ended. False: there is no child any more. */
static bool reap(struct reaper *reaper)
{
    struct signalfd_siginfo ignored;
    struct ended ended;

    while (read(reaper->on_child, &ignored, sizeof(ignored)) > 0) {}
    reaper->is_behind = false;
    for (int i = 0; i < REAP_MAX; i++) {
        size_t place;

        ended.info.si_pid = 0;
        if (look_at_ended(&ended))
            return errno != ECHILD;
        if (ended.info.si_pid == 0)
            return true;
        place = find_leader(reaper, ended.info.si_pid);
        if (place < reaper->n_leaders && end_leader(reaper, place, &ended))
            return true;
        waitpid(ended.info.si_pid, NULL, 0);
    }
    reaper->is_behind = true;
    return true;
}

/* ---- requests ---- */

static void pass_signal(const struct reaper *reaper, const struct reaper_request *request)
{
    pid_t pid = request->pid;

    if (find_leader(reaper, pid) < reaper->n_leaders)
        kill(request->is_group ? -pid : pid, request->signum);
}

static void carry_out(struct reaper *reaper, const struct reaper_request *request,
                      const int *fds, size_t n_fds)
{
    if (request->type == REAPER_SPAWN && n_fds == REAPER_FDS && !reaper->kill_until)
        spawn(reaper, request, fds);
    else if (request->type == REAPER_SIGNAL)
        pass_signal(reaper, request);
    else if (request->type == REAPER_END)
        end_all(reaper);
}

static void take_request(struct reaper *reaper)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(REAPER_FDS * sizeof(int))];
    } control;
    struct reaper_request request;
    struct iovec part = {&request, sizeof(request)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(REAPER_SOCKET, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int fds[REAPER_FDS];
    size_t n_fds = 0;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (header) {
        n_fds = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(header), n_fds * sizeof(int));
    }
    if (n == (ssize_t)sizeof(request))
        carry_out(reaper, &request, fds, n_fds);
    else
        go_deaf(reaper);
    for (size_t i = 0; i < n_fds; i++)
        close(fds[i]);
}

static void wait_for_something(struct reaper *reaper)
{
    struct pollfd fds[2] = {
        {reaper->is_deaf ? -1 : REAPER_SOCKET,
         (short)(POLLIN | (reaper->is_full ? POLLOUT : 0)), 0},
        {reaper->on_child, POLLIN, 0},
    };

    poll(fds, 2, reaper->is_behind ? 0 : reaper->kill_until ? AGAIN_MS : -1);
    reaper->is_full = false;
    if (fds[0].revents & ~POLLOUT)
        take_request(reaper);
}

static void tell_left(struct reaper *reaper)
{
    struct reaper_reply reply = {.type = REAPER_LEFT};

    children_describe("", NULL, NULL, reply.text, sizeof(reply.text));
    if (!reply.text[0])
        snprintf(reply.text, sizeof(reply.text), "processes that can't be listed");
    tell(reaper, &reply);
}

static void kill_all(const struct reaper *reaper)
{
    cgroup_kill(reaper->cgroup_dir);
    children_kill(NULL, NULL);
    /* Where the kernel does not list children these are known all the same. */
    for (size_t i = 0; i < reaper->n_leaders; i++)
        kill(-reaper->leaders[i], SIGKILL);
}

static void serve(struct reaper *reaper)
{
    for (;;) {
        bool has_children;

        if (reaper->kill_until)
            kill_all(reaper);
        has_children = reap(reaper);
        if (reaper->kill_until && !has_children)
            return;
        if (reaper->kill_until && now_s() >= reaper->kill_until) {
            tell_left(reaper);
            return;
        }
        wait_for_something(reaper);
    }
}

/* ---- start ---- */

static bool is_started_by_agent(void)
{
    struct stat st;

    return fstat(REAPER_SOCKET, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Only the agent's word ends it: a scheduler may signal every process of a job. */
static int watch_children(void)
{
    sigset_t set;

    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int start(struct reaper *reaper)
{
    struct reaper_reply ready = {.type = REAPER_READY, .number = REAPER_PROTOCOL};

    close_from(REAPER_LOCK + 1);
    fcntl(REAPER_SOCKET, F_SETFD, FD_CLOEXEC);
    fcntl(REAPER_LOCK, F_SETFD, FD_CLOEXEC);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return -1;
    reaper->on_child = watch_children();
    if (reaper->on_child < 0)
        return -1;
    reaper->cgroup = cgroup_make(reaper->cgroup_dir, sizeof(reaper->cgroup_dir));
    snprintf(ready.text, sizeof(ready.text), "%s", reaper->cgroup_dir);
    return tell(reaper, &ready);
}

int main(int argc, char **argv)
{
    struct reaper reaper;

    if (argc > 1 || !is_started_by_agent()) {
        bool is_help = argc > 1 && strcmp(argv[1], "--help") == 0;

        fputs("usage: ringbench-reaper\n\nThe parent of a case's processes, which "
              "ringbench-agent starts once per case.\n",
              is_help ? stdout : stderr);
        return is_help ? 0 : 2;
    }
    memset(&reaper, 0, sizeof(reaper));
    if (start(&reaper)) {
        perror("ringbench-reaper");
        return 1;
    }
    serve(&reaper);
    cgroup_remove(reaper.cgroup_dir);
    free(reaper.leaders);
    /* No more than that, such as a leak checker which waits for this process to stop: the
     * agent may send SIGCONT at any time (process_tree_destroy), and it would wait for
     * good. */
    _exit(0);
}
