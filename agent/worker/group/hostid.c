/* SPDX-License-Identifier: Apache-2.0 */
/* hostid.c - identify a host: ranks with the same host id can share memory */
#include "agent/worker/group/hostid.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fnv.h"
#include "common/base/this_machine.h"

const char *hostid_machine(char text[HOSTID_MAX])
{
    this_machine_boot_id(text, HOSTID_MAX);
    if (!text[0])
        snprintf(text, HOSTID_MAX, "unknown");
    return text;
}

const char *hostid_text(const char *override, char text[HOSTID_MAX])
{
    static const char *const namespaces[] = {"/proc/self/ns/uts", "/proc/self/ns/ipc",
                                             "/proc/self/ns/net", "/proc/self/ns/pid"};
    uint64_t hash = FNV1A_BEGIN;
    char name[256] = "";
    uid_t user = geteuid();

    if (override && override[0]) {
        snprintf(text, HOSTID_MAX, "%s", override);
        return text;
    }
    hostid_machine(text);
    hash = fnv1a(hash, text, strlen(text));
    if (gethostname(name, sizeof(name) - 1) == 0)
        hash = fnv1a(hash, name, strlen(name));
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
        struct stat info;
        if (stat(namespaces[i], &info) == 0)
            hash = fnv1a(hash, &info.st_ino, sizeof(info.st_ino));
    }
    hash = fnv1a(hash, &user, sizeof(user));
    snprintf(text, HOSTID_MAX, "%016" PRIx64, hash);
    return text;
}
