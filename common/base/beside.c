/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - finds programs in the same directory as the running program */
#include "common/base/beside.h"

#include <string.h>
#include <unistd.h>

int beside_program(const char *name, char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *slash;

    if (n <= 0)
        return -1;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= PATH_MAX)
        return -1;
    memcpy(slash + 1, name, strlen(name) + 1);
    return 0;
}
