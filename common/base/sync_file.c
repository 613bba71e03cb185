/* SPDX-License-Identifier: Apache-2.0 */
/* sync_file.c - makes written files survive a power failure */
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

int sync_folder_of(const char *path)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", path);
    return sync_path(dirname(folder), O_RDONLY | O_DIRECTORY);
}
