/* SPDX-License-Identifier: Apache-2.0 */
/* sync_file.h - makes written files survive a power failure */
#ifndef RINGBENCH_COMMON_BASE_SYNC_FILE_H
#define RINGBENCH_COMMON_BASE_SYNC_FILE_H

/* Wait until the file's content is on disk. The wait takes milliseconds to seconds, so do
 * not call this on an event loop. Return 0, or -1 with errno. */
int sync_file(const char *path);

/* Wait until the entries of the file's directory are on disk. */
int sync_folder_of(const char *path);

#endif
