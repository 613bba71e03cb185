/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_file.h - opens files in directories to which other users can write */
#ifndef RINGBENCH_COMMON_BASE_FOREIGN_FILE_H
#define RINGBENCH_COMMON_BASE_FOREIGN_FILE_H

#include <stdio.h>

/* Open a regular file for reading. Return NULL if the file is absent, a link, a pipe or a
 * device, because a link may lead to a secret, and a pipe may never end. */
FILE *foreign_file_open(const char *path);

#endif
