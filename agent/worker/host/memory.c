/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - compute how much host memory a rank may use
 *
 * Shared segments are memfds, in the kernel's internal tmpfs. The size of /dev/shm does
 * not limit them, but they count as memory of the machine and of the cgroup. */
#include "agent/worker/host/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/units.h"

#define RESERVE_LEAST (UINT64_C(256) << 20)
#define TEXT_MAX_BYTES 16384

static size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, size - 1, file) : 0;

    text[len] = '\0';
    if (file)
        fclose(file);
    return len;
}

uint64_t memory_parse_meminfo(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ':')
            return strtoull(line + len + 1, NULL, 10) * 1024;
    }
    return 0;
}

static uint64_t meminfo(const char *key)
{
    char text[TEXT_MAX_BYTES] = "";

    read_text("/proc/meminfo", text, sizeof(text));
    return memory_parse_meminfo(text, key);
}

uint64_t memory_total(void)
{
    return meminfo("MemTotal");
}

/* Read a number from a cgroup file. UINT64_MAX without a limit or without the file. */
static uint64_t cgroup_number(const char *dir, const char *file)
{
    char path[PATH_MAX], text[64];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (read_text(path, text, sizeof(text)) == 0 || text[0] == 'm')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static uint64_t room_in(const char *dir, const char *limit_file, const char *usage_file)
{
    uint64_t limit = cgroup_number(dir, limit_file);
    uint64_t usage = cgroup_number(dir, usage_file);

    if (limit == UINT64_MAX || usage == UINT64_MAX)
        return UINT64_MAX;
    return limit > usage ? limit - usage : 0;
}

/* Return the least free memory in this cgroup and all its parents. */
static uint64_t room_up(const char *mount, const char *group, const char *limit_file,
                        const char *usage_file)
{
    char dir[PATH_MAX];
    uint64_t least = UINT64_MAX;
    size_t top = strlen(mount);

    snprintf(dir, sizeof(dir), "%s%s", mount, group);
    while (strlen(dir) >= top) {
        uint64_t room = room_in(dir, limit_file, usage_file);
        least = room < least ? room : least;
        char *slash = strrchr(dir, '/');
        if (!slash || slash == dir)
            break;
        *slash = '\0';
    }
    return least;
}

/* Lines of /proc/self/cgroup are "ID:CONTROLLERS:PATH". Version 2 has ID 0 and no
 * controllers. */
static uint64_t cgroup_room(void)
{
    char text[TEXT_MAX_BYTES], *save = NULL;
    uint64_t least = UINT64_MAX;

    read_text("/proc/self/cgroup", text, sizeof(text));
    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        uint64_t room = UINT64_MAX;
        if (!group)
            continue;
        *group++ = '\0';
        group = strcmp(group, "/") == 0 ? group + 1 : group;
        if (controllers[1] == '\0') {
            room = room_up("/sys/fs/cgroup", group, "memory.max", "memory.current");
        } else if (strstr(controllers, "memory")) {
            room = room_up("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                           "memory.usage_in_bytes");
        }
        least = room < least ? room : least;
    }
    return least;
}

void memory_share(int ranks, struct backend_memory *out)
{
    uint64_t available = meminfo("MemAvailable"), room = cgroup_room();
    bool is_limited = room < available;
    uint64_t free_bytes = is_limited ? room : available;
    uint64_t reserve = memory_total() / 20;
    char left[UNITS_TEXT_MAX], kept[UNITS_TEXT_MAX];

    reserve = reserve > RESERVE_LEAST ? reserve : RESERVE_LEAST;
    out->bytes = free_bytes > reserve ? (free_bytes - reserve) / (uint64_t)ranks : 0;
    snprintf(out->text, sizeof(out->text),
             "%s %s, minus a reserve of %s, shared by %d rank%s",
             is_limited ? "free memory of the cgroup" : "MemAvailable",
             units_format_human(free_bytes, left), units_format_human(reserve, kept),
             ranks, ranks == 1 ? "" : "s");
}
