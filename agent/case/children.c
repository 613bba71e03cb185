/* SPDX-License-Identifier: Apache-2.0 */
/* children.c - lists and kills the children of this process, including adopted ones */
#include "agent/case/children.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct visit {
    const char *root;
    children_spare_fn *spare;
    const void *arg;
    void (*fn)(struct visit *visit, pid_t pid);
    size_t count;
    char *text;
    pid_t *pids;
    size_t size; /* capacity of `text` or `pids` */
};

static void visit_task(struct visit *visit, const char *task)
{
    char path[PATH_MAX];
    FILE *file;
    int pid;

    snprintf(path, sizeof(path), "%s/proc/self/task/%s/children", visit->root, task);
    file = fopen(path, "re");
    while (file && fscanf(file, "%d", &pid) == 1) {
        if (visit->spare && visit->spare(visit->arg, pid))
            continue;
        visit->count++;
        visit->fn(visit, pid);
    }
    if (file)
        fclose(file);
}

/* Each thread has its own list of children in /proc. */
static void visit_all(struct visit *visit)
{
    char path[PATH_MAX];
    const struct dirent *task;
    DIR *tasks;

    snprintf(path, sizeof(path), "%s/proc/self/task", visit->root);
    tasks = opendir(path);
    if (!tasks)
        return;
    while ((task = readdir(tasks)))
        if (task->d_name[0] != '.')
            visit_task(visit, task->d_name);
    closedir(tasks);
}

static void list_one(struct visit *visit, pid_t pid)
{
    if (visit->count <= visit->size)
        visit->pids[visit->count - 1] = pid;
}

size_t children_list(pid_t *pids, size_t max)
{
    struct visit visit = {.root = "", .fn = list_one, .pids = pids, .size = max};

    visit_all(&visit);
    return visit.count < max ? visit.count : max;
}

static void kill_one(struct visit *visit, pid_t pid)
{
    (void)visit;
    kill(pid, SIGKILL);
}

size_t children_kill(children_spare_fn *spare, const void *arg)
{
    struct visit visit = {.root = "", .spare = spare, .arg = arg, .fn = kill_one};

    visit_all(&visit);
    return visit.count;
}

static void describe_one(struct visit *visit, pid_t pid)
{
    char path[PATH_MAX], name[64] = "?", state = '?';
    size_t len = strlen(visit->text);
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/%d/stat", visit->root, (int)pid);
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%*d (%63[^)]) %c", name, &state) < 2)
            state = '?';
        fclose(file);
    }
    if (state == 'Z') /* a zombie holds no resources */
        return;
    snprintf(visit->text + len, visit->size - len, "%s%d (%s) in state %c",
             len ? ", " : "", (int)pid, name, state);
}

void children_describe(const char *root, children_spare_fn *spare, const void *arg,
                       char *text, size_t size)
{
    struct visit visit = {.root = root,
                          .spare = spare,
                          .arg = arg,
                          .fn = describe_one,
                          .text = text,
                          .size = size};

    text[0] = '\0';
    visit_all(&visit);
}
