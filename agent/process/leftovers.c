/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers.c - finds the cases of an earlier agent that was killed */
#include "agent/process/leftovers.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/case_input.h"

struct visit {
    leftovers_case *fn;
    void *arg;
};

/* Parse the beginning of an event line, as frame() in outbox.c writes it. */
static void on_line(void *arg, const char *line)
{
    const struct visit *visit = arg;
    struct case_id id = {.run = ""};

    if (sscanf(line,
               "{\"seq\":%*u,\"run\":\"%64[^\"]\",\"case\":%" SCNd64
               ",\"attempt\":%" SCNd64,
               id.run, &id.number, &id.attempt) == 3)
        visit->fn(visit->arg, &id);
}

static bool parse_name(const char *name, struct case_id *id)
{
    const char *end = strrchr(name, '-'), *dash = end;
    size_t len;

    while (dash && dash > name && *--dash != '-') {}
    if (strncmp(name, CASE_FILE_PREFIX, strlen(CASE_FILE_PREFIX)) != 0 || !dash ||
        dash <= name + strlen(CASE_FILE_PREFIX))
        return false;
    len = (size_t)(dash - name) - strlen(CASE_FILE_PREFIX);
    if (len > CASE_RUN_MAX)
        return false;
    memset(id, 0, sizeof(*id));
    memcpy(id->run, name + strlen(CASE_FILE_PREFIX), len);
    return sscanf(dash, "-%" SCNd64 "-%" SCNd64 ".json", &id->number, &id->attempt) == 2;
}

void leftovers_each(const struct spool *spool, leftovers_case *fn, void *arg)
{
    struct visit visit = {fn, arg};
    DIR *dir = opendir(spool_dir(spool));
    const struct dirent *entry;
    struct case_id id;

    spool_each(spool, on_line, &visit);
    for (entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, CASE_FILE_PREFIX, strlen(CASE_FILE_PREFIX)) != 0)
            continue;
        if (parse_name(entry->d_name, &id))
            fn(arg, &id);
        unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}
