/* cpu.c - processors and their topology, from /proc/cpuinfo and /sys */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/machine/host_file.h"
#include "agent/inventory/inventory.h"
#include "common/base/clean_text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define SOCKETS_MAX 256

/* The number behind a prefix in a directory entry's name, or -1. */
static int number_after(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    char *end;
    long value;

    if (strncmp(name, prefix, len) != 0 || name[len] < '0' || name[len] > '9')
        return -1;
    value = strtol(name + len, &end, 10);
    return *end == '\0' && value >= 0 && value < INT_MAX ? (int)value : -1;
}

static DIR *open_dir(const char *root, const char *path)
{
    char full[PATH_MAX];

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
        return NULL;
    return opendir(full);
}

struct topology {
    int threads, cores, sockets;
    int socket_ids[SOCKETS_MAX];
};

static void count_socket(struct topology *topology, int id)
{
    for (int i = 0; i < topology->sockets; i++)
        if (topology->socket_ids[i] == id)
            return;
    if (topology->sockets < SOCKETS_MAX)
        topology->socket_ids[topology->sockets++] = id;
}

/* A core is counted at the first of its threads. An offline CPU has no topology. */
static void count_cpu(const char *root, int cpu, struct topology *topology)
{
    char path[128], line[4096];

    snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/physical_package_id", cpu);
    if (!host_file_line(root, path, line, sizeof(line)))
        return;
    topology->threads++;
    count_socket(topology, (int)strtol(line, NULL, 10));
    snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/thread_siblings_list", cpu);
    if (!host_file_line(root, path, line, sizeof(line)) || strtol(line, NULL, 10) == cpu)
        topology->cores++;
}

static void read_topology(const char *root, struct topology *topology)
{
    DIR *dir = open_dir(root, CPU_DIR);
    const struct dirent *entry;

    memset(topology, 0, sizeof(*topology));
    if (!dir)
        return;
    for (entry = readdir(dir); entry; entry = readdir(dir)) {
        int cpu = number_after(entry->d_name, "cpu");

        if (cpu >= 0)
            count_cpu(root, cpu, topology);
    }
    closedir(dir);
}

/* x86 has "model name", POWER "cpu"; ARM gives two numbers. */
static json_t *read_model(const char *root)
{
    static const char file[] = "/proc/cpuinfo";
    char text[512], implementer[64], part[64];

    if (!host_file_value(root, file, "model name", ':', text, sizeof(text)) &&
        !host_file_value(root, file, "cpu", ':', text, sizeof(text))) {
        if (!host_file_value(root, file, "CPU implementer", ':', implementer,
                             sizeof(implementer)) ||
            !host_file_value(root, file, "CPU part", ':', part, sizeof(part)))
            return json_null();
        snprintf(text, sizeof(text), "ARM implementer %s part %s", implementer, part);
    }
    return clean_text_json(text, strlen(text));
}

json_t *inventory_cpu(const char *root)
{
    struct topology topology;

    read_topology(root, &topology);
    return json_pack("{s:o, s:i, s:i, s:i}", "model", read_model(root), "sockets",
                     topology.sockets, "cores", topology.cores, "threads",
                     topology.threads);
}

int inventory_numa_nodes(const char *root)
{
    DIR *dir = open_dir(root, "/sys/devices/system/node");
    const struct dirent *entry;
    int n = 0;

    if (!dir)
        return 0;
    for (entry = readdir(dir); entry; entry = readdir(dir))
        n += number_after(entry->d_name, "node") >= 0;
    closedir(dir);
    return n;
}
