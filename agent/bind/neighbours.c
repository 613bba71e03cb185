/* neighbours.c - the other agents of this machine that may use the same CPUs */
#include "agent/bind/neighbours.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fnv.h"
#include "common/base/this_machine.h"

/* The name: PREFIX, machine (a hash), "/", CPUs, "/", what tells agents apart. CPUs are a
 * list, or a mask where that is shorter: on machines that number sockets by turns, every
 * second CPU makes a long list. */
#define PREFIX "ringbench-agent/"
#define HASH_TEXT_MAX 17
#define LIST_MAX 64

const char *neighbours_machine(char text[NEIGHBOURS_MACHINE_MAX])
{
    const char *override = getenv("RINGBENCH_MACHINE");

    if (override && override[0]) {
        snprintf(text, NEIGHBOURS_MACHINE_MAX, "%s", override);
        return text;
    }
    return this_machine_boot_id(text, NEIGHBOURS_MACHINE_MAX);
}

static void hash_text(const char *from, char text[HASH_TEXT_MAX])
{
    snprintf(text, HASH_TEXT_MAX, "%016" PRIx64, fnv1a(FNV1A_BEGIN, from, strlen(from)));
}

/* What is too long either way is left out: such an agent may use any. */
static void list_cpus(hwloc_const_cpuset_t cpus, char text[LIST_MAX])
{
    if (hwloc_bitmap_list_snprintf(text, LIST_MAX, cpus) >= LIST_MAX &&
        hwloc_bitmap_snprintf(text, LIST_MAX, cpus) >= LIST_MAX)
        text[0] = '\0';
}

static int read_cpus(hwloc_bitmap_t cpus, const char *text)
{
    return strncmp(text, "0x", 2) == 0 ? hwloc_bitmap_sscanf(cpus, text)
                                       : hwloc_bitmap_list_sscanf(cpus, text);
}

int neighbours_announce(const char *machine, hwloc_const_cpuset_t cpus)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char hash[HASH_TEXT_MAX], list[LIST_MAX];
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int n;

    if (fd < 0)
        return -1;
    hash_text(machine, hash);
    list_cpus(cpus, list);
    /* In another process namespace a process may have the same number. */
    for (int try = 0; try < 16; try++) {
        n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
                     PREFIX "%s/%s/%d.%d", hash, list, (int)getpid(), try);
        if (bind(fd, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ==
            0)
            return fd;
    }
    close(fd);
    return -1;
}

/* Whether the agent of the name, behind PREFIX, may use one of the CPUs. */
static int is_neighbour(const char *name, const char *hash, hwloc_const_cpuset_t cpus)
{
    char list[LIST_MAX];
    hwloc_bitmap_t its;
    size_t len;
    int result;

    if (strncmp(name, hash, HASH_TEXT_MAX - 1) != 0 || name[HASH_TEXT_MAX - 1] != '/')
        return 0;
    name += HASH_TEXT_MAX;
    len = strcspn(name, "/\n");
    if (len == 0 || len >= sizeof(list))
        return 1;
    memcpy(list, name, len);
    list[len] = '\0';
    its = hwloc_bitmap_alloc();
    result = !its || read_cpus(its, list) || hwloc_bitmap_intersects(its, cpus);
    hwloc_bitmap_free(its);
    return result;
}

size_t neighbours_count(const char *list, const char *machine, hwloc_const_cpuset_t cpus)
{
    char line[512], hash[HASH_TEXT_MAX];
    FILE *file = fopen(list, "re");
    size_t n = 0;

    if (!file)
        return 0;
    hash_text(machine, hash);
    while (fgets(line, sizeof(line), file)) {
        const char *name = strstr(line, " @" PREFIX);

        if (name && is_neighbour(name + 2 + strlen(PREFIX), hash, cpus))
            n++;
    }
    fclose(file);
    return n;
}
