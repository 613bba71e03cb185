/* hostid.c - which ranks are on one host */
#include "agent/worker/group/hostid.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const char *hostid_machine(char text[HOSTID_MAX])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(text, HOSTID_MAX, file))
        snprintf(text, HOSTID_MAX, "unknown");
    if (file)
        fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

const char *hostid_text(const char *override, char text[HOSTID_MAX])
{
    static const char *const namespaces[] = {"/proc/self/ns/uts", "/proc/self/ns/ipc",
                                             "/proc/self/ns/net", "/proc/self/ns/pid"};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char name[256] = "";
    uid_t user = geteuid();

    if (override && override[0]) {
        snprintf(text, HOSTID_MAX, "%s", override);
        return text;
    }
    hostid_machine(text);
    hash = hash_bytes(hash, text, strlen(text));
    if (gethostname(name, sizeof(name) - 1) == 0)
        hash = hash_bytes(hash, name, strlen(name));
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
        struct stat info;
        if (stat(namespaces[i], &info) == 0)
            hash = hash_bytes(hash, &info.st_ino, sizeof(info.st_ino));
    }
    hash = hash_bytes(hash, &user, sizeof(user));
    snprintf(text, HOSTID_MAX, "%016" PRIx64, hash);
    return text;
}
