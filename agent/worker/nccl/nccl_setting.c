/* nccl_setting.c - what NCCL will find when it looks up one of its variables */
#include "agent/worker/nccl/nccl_setting.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_abi.h"

/* A line NAME=VALUE of one of NCCL's own configuration files; "" if it has none. */
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

const char *nccl_setting(const char *name, char *value, size_t size)
{
    const char *text = getenv(name), *own = getenv("NCCL_CONF_FILE");
    const char *home = getenv("HOME");
    char path[512];

    if (text)
        return text;
    snprintf(path, sizeof(path), "%s%s",
             own    ? own
             : home ? home
                    : "",
             own ? "" : "/.nccl.conf");
    return read_setting(path, name, value, size) ||
                   read_setting("/etc/nccl.conf", name, value, size)
               ? value
               : NULL;
}

int nccl_setting_offer(const char *name, const char *value)
{
    char now[32];

    return nccl_setting(name, now, sizeof(now)) ? 0 : setenv(name, value, 1);
}

int nccl_setting_log(int version)
{
    char value[32];
    const char *parts = version < NCCL_WITH_CHOICES ? "INIT,BOOTSTRAP,ENV,NET,TUNING"
                                                    : "INIT,BOOTSTRAP,ENV,NET";

    return nccl_setting("NCCL_DEBUG", value, sizeof(value))
               ? 0
               : setenv("NCCL_DEBUG", "INFO", 1) || setenv("NCCL_DEBUG_SUBSYS", parts, 0);
}
