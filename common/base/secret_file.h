/* SPDX-License-Identifier: Apache-2.0 */
/* secret_file.h - the permission rule for files with tokens and keys: owned by root or
 * our own user, writable by the owner only, readable by owner and group only */
#ifndef RINGBENCH_COMMON_BASE_SECRET_FILE_H
#define RINGBENCH_COMMON_BASE_SECRET_FILE_H

#include <stdio.h>

#include "common/base/error.h"

/* Open a secret file for reading; the error names it `what`, such as "token file". Links
 * are followed, since Kubernetes mounts secrets as links. */
FILE *secret_file_open(const char *what, const char *path, struct error *err);

/* Open a file that everyone may read but that needs the same protection from writes. */
FILE *secret_file_open_public(const char *what, const char *path, struct error *err);

#endif
