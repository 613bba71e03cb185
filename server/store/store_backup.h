/* SPDX-License-Identifier: Apache-2.0 */
/* store_backup.h - copies the database while a server may be writing to it */
#ifndef RINGBENCH_SERVER_STORE_STORE_BACKUP_H
#define RINGBENCH_SERVER_STORE_STORE_BACKUP_H

#include "common/base/error.h"

/* Copy DIR/ringbench.db, as of its last commit, to a new file that only its owner can
 * read. Until the copy is complete and synced, it is named FILE.part. The call blocks,
 * but other processes may write meanwhile. Fails with ERROR_CONFLICT if the file exists.
 */
int store_backup(const char *dir, const char *file, struct error *err);

#endif
