/* sync_file.c - what is written survives a loss of power */
#include "common/base/sync_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd), why = errno;

    if (fd >= 0)
        close(fd);
    errno = why;
    return rc;
}

int sync_file(const char *path)
{
    return sync_path(path, O_RDONLY);
}

/* By the descriptor: the path may be of another file by now, or of none. */
static void name_too(int fd, const char *safe)
{
    char from[32], fresh[PATH_MAX];

    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    snprintf(fresh, sizeof(fresh), "%s.new", safe);
    unlink(fresh);
    if (linkat(AT_FDCWD, from, AT_FDCWD, fresh, AT_SYMLINK_FOLLOW) == 0)
        rename(fresh, safe);
    unlink(fresh); /* of names of one file rename() removes none */
}

int sync_file_as(const char *path, const char *safe)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd), why = errno;

    if (rc == 0)
        name_too(fd, safe);
    if (fd >= 0)
        close(fd);
    errno = why;
    return rc;
}

int sync_folder_of(const char *path)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", path);
    return sync_path(dirname(folder), O_RDONLY | O_DIRECTORY);
}
