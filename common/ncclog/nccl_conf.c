/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_conf.c - reads NCCL's configuration files */
#include "common/ncclog/nccl_conf.h"

#include <stdio.h>
#include <string.h>

/* Read the value of a line NAME=VALUE in one of NCCL's configuration files. Return false
 * if there is no such line. */
static bool read_setting(const char *path, const char *name, char *value, size_t size)
{
    char line[512];
    size_t len = strlen(name);
    bool is_found = false;
    FILE *file = fopen(path, "re");

    while (file && !is_found && fgets(line, sizeof(line), file)) {
        is_found = strncmp(line, name, len) == 0 && line[len] == '=';
        if (is_found) {
            line[strcspn(line, "\r\n")] = '\0';
            snprintf(value, size, "%s", line + len + 1);
        }
    }
    if (file)
        fclose(file);
    return is_found;
}

bool nccl_conf_find(const char *own, const char *home, const char *name, char *value,
                    size_t size)
{
    char path[512];

    snprintf(path, sizeof(path), "%s%s",
             own    ? own
             : home ? home
                    : "",
             own ? "" : "/.nccl.conf");
    return read_setting(path, name, value, size) ||
           read_setting("/etc/nccl.conf", name, value, size);
}
