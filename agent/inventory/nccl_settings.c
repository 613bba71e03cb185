/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_settings.c - reads NCCL's settings on this machine, before a run adds its own */
#include <stdio.h>
#include <string.h>

#include "agent/inventory/inventory.h"
#include "agent/machine/host_file.h"
#include "common/base/env_policy.h"
#include "common/base/json_util.h"

#define LINES_MAX 64
#define VARIABLES_MAX 64
#define PATH_SIZE 512

static const char *value_of(char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

/* Add the file's lines but no comments. Return true if the file exists. */
static bool add_lines(json_t *lines, const char *root, const char *path)
{
    FILE *file = host_file_open(root, path);
    char line[256];

    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] && line[0] != '#' && json_array_size(lines) < LINES_MAX)
            json_array_append_new(lines, json_clean_string(line));
    }
    if (file)
        fclose(file);
    return file != NULL;
}

/* Read the user's file before the machine's, because NCCL uses the first value of a name
 * (NCCL 2.28, src/misc/param.cc). */
static void add_files(json_t *inventory, const char *root, char *const *environment)
{
    const char *own = value_of(environment, "NCCL_CONF_FILE");
    const char *home = value_of(environment, "HOME");
    json_t *lines = json_array();
    char path[PATH_SIZE] = "";
    bool is_there = false;

    if (own)
        snprintf(path, sizeof(path), "%s", own);
    else if (home)
        snprintf(path, sizeof(path), "%s/.nccl.conf", home);
    if (path[0] == '/')
        is_there = add_lines(lines, root, path);
    is_there = add_lines(lines, root, "/etc/nccl.conf") || is_there;
    if (is_there)
        json_object_set(inventory, "nccl_conf", lines);
    json_decref(lines);
}

/* Any user may set these variables for a run, so their values are no secret. */
static void add_variables(json_t *inventory, char *const *environment)
{
    json_t *variables = json_object();

    for (; environment && *environment; environment++) {
        size_t len = strcspn(*environment, "=");
        char name[ENV_POLICY_NAME_MAX];

        if (strncmp(*environment, "NCCL_", 5) != 0 || len >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)len, *environment);
        if (env_policy_check(name, NULL) == ENV_POLICY_ALLOW &&
            json_object_size(variables) < VARIABLES_MAX)
            json_object_set_new(variables, name,
                                json_clean_string(*environment + len + 1));
    }
    if (json_object_size(variables) > 0)
        json_object_set(inventory, "nccl_env", variables);
    json_decref(variables);
}

void inventory_add_nccl(json_t *inventory, const char *root, char *const *environment)
{
    add_files(inventory, root, environment);
    add_variables(inventory, environment);
}
