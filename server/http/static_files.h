/* SPDX-License-Identifier: Apache-2.0 */
/* static_files.h - the web UI's files, read once at start. A request's path is only
 * looked up in a table, so it cannot leave the directory. */
#ifndef RINGBENCH_SERVER_HTTP_STATIC_FILES_H
#define RINGBENCH_SERVER_HTTP_STATIC_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct static_files;

struct static_file {
    char *path; /* "/app.mjs", as requested */
    const char *content_type;
    char *data;
    size_t len;
    char *gzip_data; /* content of "app.mjs.gz" in the same directory, or NULL */
    size_t gzip_len;
    char etag[24], gzip_etag[24];
    /* the file is under /assets/, where names contain a hash of the content */
    bool is_immutable;
};

/* Read every regular file under `dir`, except hidden ones and links that lead out of it.
 * Needs an index.html; refuses more than 32 MiB in all. */
struct static_files *static_files_load(const char *dir, struct error *err);
void static_files_destroy(struct static_files *files);

/* Return the file for a decoded path, borrowed. For "/" and paths of the UI's views
 * (without a known file extension) this is index.html. NULL if there is none. */
const struct static_file *static_files_find(const struct static_files *files,
                                            const char *path);

/* True if an If-None-Match header (may be NULL) contains `etag`. */
bool static_etag_matches(const char *if_none_match, const char *etag);

#endif
