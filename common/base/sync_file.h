/* SPDX-License-Identifier: Apache-2.0 */
/* sync_file.h - what is written survives a loss of power */
#ifndef RINGBENCH_COMMON_BASE_SYNC_FILE_H
#define RINGBENCH_COMMON_BASE_SYNC_FILE_H

/* Wait until the disk has the file's content: milliseconds to seconds, so not on a loop.
 * 0 or -1 with errno. */
int sync_file(const char *path);

/* Wait until the disk has the names in the directory that the file is in. */
int sync_folder_of(const char *path);

#endif
