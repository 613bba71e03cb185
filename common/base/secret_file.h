/* SPDX-License-Identifier: Apache-2.0 */
/* secret_file.h - the one rule for files with tokens and keys: they are root's or our own
 * user's, only the owner may write them, only the owner and the group may read them */
#ifndef RINGBENCH_COMMON_BASE_SECRET_FILE_H
#define RINGBENCH_COMMON_BASE_SECRET_FILE_H

#include <stdio.h>

#include "common/base/error.h"

/* Open it for reading; `what`, such as "token file", is its name in the error. Links are
 * followed: Kubernetes mounts secrets as such. */
FILE *secret_file_open(const char *what, const char *path, struct error *err);

/* The same for a file that is no secret but that much is decided by: all may read it. */
FILE *secret_file_open_public(const char *what, const char *path, struct error *err);

#endif
