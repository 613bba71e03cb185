/* SPDX-License-Identifier: Apache-2.0 */
/* host_file.c - reads small text files of /proc and /sys */
#include "agent/machine/host_file.h"

#include <limits.h>
#include <string.h>

FILE *host_file_open(const char *root, const char *path)
{
    char full[PATH_MAX];

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
        return NULL;
    return fopen(full, "re");
}

bool host_file_line(const char *root, const char *path, char *line, size_t size)
{
    FILE *file = host_file_open(root, path);
    bool has_line;

    if (!file)
        return false;
    has_line = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (has_line)
        line[strcspn(line, "\r\n")] = '\0';
    return has_line;
}

/* NULL if the line has another key. */
static char *match(char *line, const char *key, char separator)
{
    size_t len = strlen(key);
    char *at = line + len;

    if (strncmp(line, key, len) != 0)
        return NULL;
    at += strspn(at, " \t");
    if (*at != separator)
        return NULL;
    at++;
    at += strspn(at, " \t");
    at[strcspn(at, "\r\n")] = '\0';
    return at;
}

bool host_file_value(const char *root, const char *path, const char *key, char separator,
                     char *value, size_t size)
{
    FILE *file = host_file_open(root, path);
    char line[4096];
    const char *found = NULL;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof(line), file))
        found = match(line, key, separator);
    fclose(file);
    if (!found)
        return false;
    snprintf(value, size, "%s", found);
    return true;
}

bool host_file_cgroup(const char *root, char *path, size_t size)
{
    FILE *file = host_file_open(root, "/proc/self/cgroup");
    char line[PATH_MAX];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0 && strlen(line + 3) < size;
        if (found)
            snprintf(path, size, "%s", line[4] ? line + 3 : "");
    }
    if (file)
        fclose(file);
    return found;
}
