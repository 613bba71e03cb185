/* SPDX-License-Identifier: Apache-2.0 */
/* store_backup.c - copies the database while a server may be writing to it */
#include "server/store/store_backup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/sync_file.h"
#include "server/store/store_sql.h"

/* Copy with VACUUM INTO, which reads the state of one commit. In WAL mode a reader does
 * not block the writer. VACUUM INTO does not sync the copy. */
static int copy(const char *from, const char *to, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db;
    bool is_new;
    int result = 0;

    if (store_sql_open(from, &db, err))
        return -1;
    if (store_sql_check_owner(db, from, &is_new, err))
        result = -1;
    else if (sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &stmt, NULL) != SQLITE_OK ||
             store_sql_bind_text(stmt, 1, to) != SQLITE_OK ||
             sqlite3_step(stmt) != SQLITE_DONE)
        result = store_sql_error(err, db, to);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return result;
}

/* Rename the complete copy, so that an interrupted backup leaves no partial file under
 * the final name. */
static int put_in_place(const char *part, const char *file, struct error *err)
{
    if (sync_file(part) || link(part, file) || sync_folder_of(file))
        return error_set_errno(err, ERROR_IO, errno, "cannot move the copy to %s", file);
    return 0;
}

int store_backup(const char *dir, const char *file, struct error *err)
{
    char from[PATH_MAX], part[PATH_MAX];
    mode_t mask;
    int result;

    if (snprintf(from, sizeof(from), "%s/ringbench.db", dir) >= (int)sizeof(from) ||
        snprintf(part, sizeof(part), "%s.part", file) >= (int)sizeof(part))
        return error_set(err, ERROR_INVALID, "the path of the copy is too long");
    if (access(from, F_OK))
        return error_set_errno(err, ERROR_NOT_FOUND, errno, "%s", from);
    if (access(file, F_OK) == 0)
        return error_set(err, ERROR_CONFLICT, "%s exists already", file);
    unlink(part);
    mask = umask(077);
    result = copy(from, part, err);
    if (!result)
        result = put_in_place(part, file, err);
    umask(mask);
    unlink(part);
    return result;
}
