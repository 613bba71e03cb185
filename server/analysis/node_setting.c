/* SPDX-License-Identifier: Apache-2.0 */
/* node_setting.c - finds the value of an NCCL variable on a node */
#include "server/analysis/node_setting.h"

#include <string.h>

#include "common/base/json_util.h"

/* Return a variable's value in the node's files. The first line with the name has
 * priority. */
static const char *in_files(const json_t *inventory, const char *name)
{
    const json_t *lines = json_object_get(inventory, "nccl_conf");
    size_t len = strlen(name);

    for (size_t i = 0; i < json_array_size(lines); i++) {
        const char *line = json_string_value(json_array_get(lines, i));

        if (line && strncmp(line, name, len) == 0 && line[len] == '=')
            return line + len + 1;
    }
    return NULL;
}

const char *node_setting(const json_t *inventory, const json_t *env, const char *name,
                         const char **where)
{
    const json_t *own = json_object_get(env, name);
    const json_t *inherited = json_object_get(inventory, "nccl_env");
    const struct {
        const char *value, *where;
    } found[] = {
        {json_string_value(own), ""},
        {own ? NULL : json_get_str(inherited, name, NULL), " in the agent's environment"},
        {in_files(inventory, name), " in nccl.conf"},
    };

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        if (!found[i].value)
            continue;
        if (where)
            *where = found[i].where;
        return found[i].value;
    }
    return NULL;
}
