/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c - a cgroup (version 2) for the processes of a case */
#include "agent/case/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "ringbench-" /* followed by the pid of ringbench-case */
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* The mount point of the version 2 hierarchy. Hierarchies of version 1 may exist, too. */
static int find_mount(char *dir, size_t size)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    char line[4096];
    struct mntent entry;
    int result = -1;

    while (mounts && result && getmntent_r(mounts, &entry, line, sizeof(line)))
        if (strcmp(entry.mnt_type, "cgroup2") == 0)
            result = snprintf(dir, size, "%s", entry.mnt_dir) < (int)size ? 0 : -1;
    if (mounts)
        endmntent(mounts);
    return result;
}

static int find_own(char *dir, size_t size)
{
    char mount[PATH_MAX], line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    int result = -1, has_mount = find_mount(mount, sizeof(mount)) == 0;

    while (file && has_mount && result && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::/", 4) == 0)
            result =
                snprintf(dir, size, "%s%s", mount, line[4] ? line + 3 : "") < (int)size
                    ? 0
                    : -1;
    }
    if (file)
        fclose(file);
    return result;
}

pid_t cgroup_fork(int cgroup)
{
#if defined(SYS_clone3) && defined(CLONE_INTO_CGROUP)
    struct clone_args args;

    if (cgroup >= 0) {
        memset(&args, 0, sizeof(args));
        args.flags = CLONE_INTO_CGROUP;
        args.exit_signal = SIGCHLD;
        args.cgroup = (uint64_t)cgroup;
        return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    }
#endif
    return cgroup >= 0 ? -1 : fork();
}

/* Test whether this process may kill the cgroup and fork into it. Each of the two needs
 * its own permission. */
static int check_permissions(int cgroup)
{
    pid_t pid = faccessat(cgroup, "cgroup.kill", W_OK, 0) ? -1 : cgroup_fork(cgroup);

    if (pid == 0)
        _exit(0);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    return pid > 0 ? 0 : -1;
}

/* Remove cgroups whose ringbench-case was killed together with its agent. A live
 * ringbench-case holds a lock on its cgroup. The pid in the cgroup's name proves nothing,
 * because it may come from another pid namespace. */
static void remove_old(const char *dir)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        int fd = strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0
                     ? openat(dirfd(entries), entry->d_name, OPEN_FLAGS)
                     : -1;

        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
}

int cgroup_make(char *dir, size_t size)
{
    char own[PATH_MAX];
    int fd = -1;

    if (find_own(own, sizeof(own)) == 0) {
        remove_old(own);
        if (snprintf(dir, size, "%s/" PREFIX "%d", own, (int)getpid()) < (int)size &&
            mkdir(dir, 0755) == 0)
            fd = open(dir, OPEN_FLAGS);
        if (fd >= 0 && flock(fd, LOCK_SH) == 0 && check_permissions(fd) == 0)
            return fd;
    }
    if (fd >= 0) {
        rmdir(dir);
        close(fd);
    }
    dir[0] = '\0';
    return -1;
}

void cgroup_kill(const char *dir)
{
    char path[PATH_MAX];
    int fd;

    if (!dir[0] || snprintf(path, sizeof(path), "%s/cgroup.kill", dir) >= PATH_MAX)
        return;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1", 1) < 0) {
        /* If the cgroup cannot be killed, kill_all kills the processes one by one. */
    }
    close(fd);
}

void cgroup_remove(const char *dir)
{
    if (dir[0])
        rmdir(dir);
}
