/* SPDX-License-Identifier: Apache-2.0 */
/* secret_file.h - opens files with tokens and keys if their permissions are safe: owned
 * by root or the current user, writable by the owner only, readable by owner and group
 * only */
#ifndef RINGBENCH_COMMON_BASE_SECRET_FILE_H
#define RINGBENCH_COMMON_BASE_SECRET_FILE_H

#include <stdio.h>

#include "common/base/error.h"

/* Open a secret file for reading. what: the file's kind for the error, such as "token
 * file". Links are followed, because Kubernetes mounts secrets as links. */
FILE *secret_file_open(const char *what, const char *path, struct error *err);

/* Open a file that everyone may read but that needs the same protection against
 * writes. */
FILE *secret_file_open_public(const char *what, const char *path, struct error *err);

#endif
