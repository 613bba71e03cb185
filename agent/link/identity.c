/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - stores the key and the boot id of this agent */
#include "agent/link/identity.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/json_util.h"

#define FILE_MAX 4096

static bool read_text(char *out, size_t length, const json_t *file, const char *name)
{
    const char *text = json_get_str(file, name, "");

    if (strlen(text) != length ||
        strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz-") != length)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

static int write_file(const struct identity *identity, struct error *err)
{
    json_t *file;
    int result;

    if (identity->path[0] == '\0')
        return 0;
    file = json_pack("{s:s, s:s}", "boot_id", identity->boot_id, "key", identity->key);
    result = json_write_file(file, identity->path, err);
    json_decref(file);
    return result;
}

static void generate(struct identity *identity)
{
    id_uuid(identity->boot_id);
    id_uuid(identity->key);
    id_uuid(identity->key + ID_UUID_LENGTH);
}

void identity_make(struct identity *identity)
{
    identity->path[0] = '\0';
    identity->is_resumed = false;
    generate(identity);
}

int identity_load(struct identity *identity, const char *dir, struct error *err)
{
    json_t *file;

    if (snprintf(identity->path, sizeof(identity->path), "%s/identity", dir) >=
        (int)sizeof(identity->path))
        return error_set(err, ERROR_LIMIT,
                         "the path of the spool directory %.60s... is too long", dir);
    file = json_read_file(identity->path, FILE_MAX, NULL);
    identity->is_resumed =
        read_text(identity->boot_id, ID_UUID_LENGTH, file, "boot_id") &&
        read_text(identity->key, IDENTITY_KEY_LENGTH, file, "key");
    json_decref(file);
    if (identity->is_resumed)
        return 0;
    generate(identity);
    return write_file(identity, err);
}

int identity_renew(struct identity *identity, struct error *err)
{
    id_uuid(identity->boot_id);
    return write_file(identity, err);
}

void identity_remove(const struct identity *identity)
{
    if (identity->path[0] != '\0')
        unlink(identity->path);
}
