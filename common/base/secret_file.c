/* SPDX-License-Identifier: Apache-2.0 */
/* secret_file.c - opens files with tokens and keys if their permissions are safe */
#include "common/base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *open_checked(const char *what, const char *path, mode_t forbidden,
                          const char *fault, struct error *err)
{
    /* O_NONBLOCK: opening a pipe without a writer must not block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    struct stat st;

    if (!file || fstat(fd, &st))
        error_set_errno(err, ERROR_IO, errno, "cannot open %s %s", what, path);
    else if (!S_ISREG(st.st_mode))
        error_set(err, ERROR_INVALID, "%s %s is not a regular file", what, path);
    else if (st.st_uid != 0 && st.st_uid != geteuid())
        error_set(err, ERROR_INVALID,
                  "%s %s belongs to user %u, who could change it: chown it to root or to "
                  "user %u",
                  what, path, (unsigned)st.st_uid, (unsigned)geteuid());
    else if (st.st_mode & forbidden)
        error_set(err, ERROR_INVALID,
                  "%s %s can be %s by others (mode %04o): chmod %s it", what, path, fault,
                  (unsigned)st.st_mode & 07777u, forbidden & S_IROTH ? "600" : "644");
    else
        return file;
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return NULL;
}

FILE *secret_file_open(const char *what, const char *path, struct error *err)
{
    return open_checked(what, path, S_IRWXO | S_IWGRP, "read or changed", err);
}

FILE *secret_file_open_public(const char *what, const char *path, struct error *err)
{
    return open_checked(what, path, S_IWOTH | S_IWGRP, "changed", err);
}
