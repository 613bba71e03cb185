/* SPDX-License-Identifier: Apache-2.0 */
/* static_files.c - loads and finds the files of the web UI */
#include "server/http/static_files.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fnv.h"
#include "common/base/memory.h"

#define TOTAL_MAX ((size_t)32 << 20)
#define FILES_MAX 2000
#define ASSETS "/assets/"

struct static_files {
    struct static_file *files; /* sorted by path */
    size_t count, capacity;
    size_t total;
    char root[PATH_MAX]; /* without symbolic links */
};

static const struct {
    const char *extension, *content_type;
} types[] = {
    {"html", "text/html; charset=utf-8"},
    {"js", "text/javascript; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"svg", "image/svg+xml"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"ico", "image/x-icon"},
    {"txt", "text/plain; charset=utf-8"},
    {"md", "text/plain; charset=utf-8"},
    {"woff2", "font/woff2"},
    {"gz", "application/gzip"},
};

static const char *extension_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');

    return dot ? dot + 1 : "";
}

/* NULL for an unknown extension. */
static const char *content_type_of(const char *path)
{
    const char *extension = extension_of(path);

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(types[i].extension, extension))
            return types[i].content_type;
    return NULL;
}

/* A changed file gets another tag. The hash need not be secure: forging a tag gains
 * nothing. */
static void make_etag(const char *data, size_t len, const char *suffix, char etag[24])
{
    snprintf(etag, 24, "\"%016" PRIx64 "%s\"", fnv1a(FNV1A_BEGIN, data, len), suffix);
}

static char *read_all(int fd, size_t len, struct error *err)
{
    char *data = memory_zeroed(1, len + 1, "the web UI's files");
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(fd, data + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            error_set_errno(err, ERROR_IO, n ? errno : EIO, "cannot read");
            free(data);
            return NULL;
        }
        done += (size_t)n;
    }
    return data;
}

/* Append an entry without content. */
static struct static_file *add_entry(struct static_files *files, const char *path)
{
    const char *type = content_type_of(path);
    struct static_file *file;

    files->files = memory_grown(files->files, files->count, &files->capacity,
                                sizeof(*files->files), "the web UI's files");
    file = &files->files[files->count++];
    *file = (struct static_file){
        .path = memory_text(path, "the web UI's files"),
        .content_type = type ? type : "application/octet-stream",
        .is_immutable = !strncmp(path, ASSETS, strlen(ASSETS)),
    };
    return file;
}

/* True if the path, with links resolved, is in the root directory. */
static bool is_inside(const struct static_files *files, const char *full)
{
    char resolved[PATH_MAX];
    size_t len = strlen(files->root);

    return realpath(full, resolved) && !strncmp(resolved, files->root, len) &&
           (resolved[len] == '/' || resolved[len] == '\0' || !strcmp(files->root, "/"));
}

static int load_file(struct static_files *files, const char *full, const char *path,
                     size_t len, struct error *err)
{
    struct static_file *file;
    int fd;

    if (files->count == FILES_MAX || len > TOTAL_MAX - files->total)
        return error_set(err, ERROR_LIMIT, "more than %d files or %zu MiB", FILES_MAX,
                         TOTAL_MAX >> 20);
    file = add_entry(files, path);
    fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot open %s", full);
    file->data = read_all(fd, len, err);
    close(fd);
    if (!file->data)
        return error_prefix(err, "%s", full);
    file->len = len;
    make_etag(file->data, len, "", file->etag);
    files->total += len;
    return 0;
}

/* Load all files. Follow links, but not out of the directory. */
static int load_all(struct static_files *files, struct error *err)
{
    char *const roots[] = {files->root, NULL};
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    int rc = 0;

    while (rc == 0 && walk && (entry = fts_read(walk))) {
        bool is_hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';

        if (is_hidden || !is_inside(files, entry->fts_path))
            fts_set(walk, entry, FTS_SKIP);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            rc = error_set_errno(err, ERROR_IO, entry->fts_errno, "cannot read %s",
                                 entry->fts_path);
        else if (entry->fts_info == FTS_F)
            rc = load_file(files, entry->fts_path, entry->fts_path + strlen(files->root),
                           (size_t)entry->fts_statp->st_size, err);
    }
    if (!walk || fts_close(walk))
        rc = error_set_errno(err, ERROR_IO, errno, "cannot read %s", files->root);
    return rc;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct static_file *)a)->path,
                  ((const struct static_file *)b)->path);
}

static struct static_file *find_exact(const struct static_files *files, const char *path)
{
    char copy[PATH_MAX];
    struct static_file key = {.path = copy};

    if (snprintf(copy, sizeof(copy), "%s", path) >= PATH_MAX)
        return NULL;
    return bsearch(&key, files->files, files->count, sizeof(key), compare_paths);
}

/* Set each file's compressed form: the content of the file with the same name plus ".gz".
 */
static void attach_compressed(struct static_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct static_file *file = &files->files[i], *gzip;
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s.gz", file->path) >= PATH_MAX)
            continue;
        gzip = find_exact(files, path);
        if (gzip) {
            file->gzip_data = gzip->data;
            file->gzip_len = gzip->len;
            make_etag(gzip->data, gzip->len, "-gz", file->gzip_etag);
        }
    }
}

struct static_files *static_files_load(const char *dir, struct error *err)
{
    struct static_files *files = memory_zeroed(1, sizeof(*files), "the web UI's files");

    if (!realpath(dir, files->root)) {
        error_set_errno(err, ERROR_IO, errno, "web directory %s", dir);
        goto fail;
    }
    if (load_all(files, err)) {
        error_prefix(err, "web directory");
        goto fail;
    }
    if (files->count)
        qsort(files->files, files->count, sizeof(*files->files), compare_paths);
    if (!files->count || !find_exact(files, "/index.html")) {
        error_set(err, ERROR_INVALID, "web directory %s has no index.html", dir);
        goto fail;
    }
    attach_compressed(files);
    return files;
fail:
    static_files_destroy(files);
    return NULL;
}

void static_files_destroy(struct static_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++) {
        free(files->files[i].path);
        free(files->files[i].data);
    }
    free(files->files);
    free(files);
}

const struct static_file *static_files_find(const struct static_files *files,
                                            const char *path)
{
    const struct static_file *file = find_exact(files, path);

    /* A node's name may contain dots, so only known extensions mark a path as a file. */
    if (!file && !content_type_of(path))
        file = find_exact(files, "/index.html");
    return file;
}

bool static_etag_matches(const char *if_none_match, const char *etag)
{
    size_t len = strlen(etag);
    const char *p = if_none_match;

    while (p && *p) {
        p += strspn(p, " \t,");
        if (*p == '*')
            return true;
        if (!strncmp(p, "W/", 2))
            p += 2;
        if (!strncmp(p, etag, len) && strchr(" \t,", p[len]))
            return true;
        p += strcspn(p, ",");
    }
    return false;
}
