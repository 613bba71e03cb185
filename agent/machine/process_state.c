/* SPDX-License-Identifier: Apache-2.0 */
/* process_state.c - reads the state of a process from /proc */
#include "agent/machine/process_state.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "agent/machine/host_file.h"

#define THREADS_MAX 256

/* The state follows the command's name, which may contain any character. */
static char state_of(const char *task)
{
    char path[64], line[512];
    const char *end;

    snprintf(path, sizeof(path), "%s/stat", task);
    end = host_file_line("", path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
    return end && end[1] == ' ' ? end[2] : '\0';
}

static void read_kernel(const char *task, struct process_state *out)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/wchan", task);
    if (!host_file_line("", path, out->kernel, sizeof(out->kernel)) ||
        strcmp(out->kernel, "0") == 0)
        out->kernel[0] = '\0';
}

void process_state_read(pid_t pid, struct process_state *out)
{
    char path[48];
    const struct dirent *entry;
    DIR *tasks;

    *out = (struct process_state){.state = ""};
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    out->state[0] = state_of(path);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    for (int n = 0; tasks && n < THREADS_MAX && (entry = readdir(tasks)) != NULL; n++) {
        char task[48 + 1 + 16];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(task, sizeof(task), "%.40s/%.15s", path, entry->d_name);
        if (state_of(task) != 'D')
            continue;
        out->state[0] = 'D';
        read_kernel(task, out);
        break;
    }
    if (tasks)
        closedir(tasks);
}
