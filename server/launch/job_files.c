/* SPDX-License-Identifier: Apache-2.0 */
/* job_files.c - manages the files that a job shares with its nodes */
#include "server/launch/job_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/foreign_file.h"
#include "common/base/log.h"
#include "common/base/memory.h"

enum job_file { TOKEN_FILE, CA_FILE, OUTPUT_FILE, JOB_FILES };

/* none: the value if the job does not have the file. Commands do not accept an empty
 * value. */
static const struct {
    const char *name, *suffix, *none;
} files[JOB_FILES] = {
    [TOKEN_FILE] = {"token_file", ".token", ""},
    [CA_FILE] = {"ca_file", ".ca.pem", ""},
    [OUTPUT_FILE] = {"output", ".out", "/dev/null"},
};

static const char *content_of(const struct job *job, enum job_file file)
{
    if (file == TOKEN_FILE)
        return job->jobs->has_tokens ? job->token : NULL;
    return file == CA_FILE ? job->jobs->certificate : NULL;
}

/* Return the path of a file, which the caller frees; NULL if the job has no such file. */
static char *path_of(const struct job *job, enum job_file file)
{
    char *path = NULL;

    if (!job->files || (file != OUTPUT_FILE && !content_of(job, file)))
        return NULL;
    if (asprintf(&path, "%s%s", job->files, files[file].suffix) < 0)
        memory_out("a job's file");
    return path;
}

static int write_file(const char *path, const char *content, struct error *err)
{
    FILE *file;
    int fd;

    /* A server that was killed before it stored the job may have left the file. */
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file || fprintf(file, "%s\n", content) < 0 || fclose(file))
        return error_set_errno(err, ERROR_IO, errno, "cannot write %s", path);
    return 0;
}

/* Output is written to a file only if the launcher has a directory that nodes can reach.
 * The token consists of two UUIDs with 122 random bits each. */
int job_files_write(struct job *job, const char *dir, struct error *err)
{
    const struct jobs *jobs = job->jobs;
    int rc = 0;

    if (!dir && !jobs->has_tokens && !jobs->certificate)
        return 0;
    if (jobs->has_tokens) {
        id_uuid(job->token);
        id_uuid(job->token + ID_UUID_LENGTH);
    }
    mkdir(jobs->job_dir, 0700);
    if (asprintf(&job->files, "%s/%s", dir ? dir : jobs->job_dir, job->id) < 0)
        memory_out("a job's files");
    for (enum job_file i = 0; i < JOB_FILES && !rc; i++) {
        char *path = content_of(job, i) ? path_of(job, i) : NULL;

        rc = path ? write_file(path, content_of(job, i), err) : 0;
        free(path);
    }
    return rc;
}

void job_files_renew(const struct job *job)
{
    char *path = path_of(job, CA_FILE);
    struct error err;

    if (path && write_file(path, content_of(job, CA_FILE), &err))
        log_warn("job %s: %s", job->id, err.text);
    free(path);
}

void job_files_read(struct job *job)
{
    char *path = path_of(job, TOKEN_FILE);
    FILE *file = path ? foreign_file_open(path) : NULL;

    if (file && fread(job->token, 1, JOB_TOKEN_SIZE - 1, file) != JOB_TOKEN_SIZE - 1)
        memset(job->token, 0, sizeof(job->token));
    if (file)
        fclose(file);
    free(path);
}

void job_files_name(const struct job *job, json_t *values)
{
    for (enum job_file i = 0; i < JOB_FILES; i++) {
        char *path = path_of(job, i);

        json_object_set_new(values, files[i].name,
                            json_string(path ? path : files[i].none));
        free(path);
    }
}

/* Read the last JOB_OUTPUT_MAX bytes, starting at the beginning of a line. */
static void read_output(struct job *job, const char *path)
{
    FILE *file = foreign_file_open(path);
    char text[JOB_OUTPUT_MAX], *from = text, *line;
    bool is_cut = file && !fseek(file, 1 - JOB_OUTPUT_MAX, SEEK_END);
    size_t len;

    if (!file)
        return;
    if (!is_cut)
        rewind(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    line = is_cut ? memchr(text, '\n', len) : NULL;
    if (line)
        from = line + 1;
    snprintf(job->output, sizeof(job->output), "%s",
             engine_text_clean(from, len - (size_t)(from - text), true));
}

void job_files_end(struct job *job)
{
    for (enum job_file i = 0; i < JOB_FILES; i++) {
        char *path = path_of(job, i);

        if (path && i == OUTPUT_FILE)
            read_output(job, path);
        if (path)
            unlink(path);
        free(path);
    }
    explicit_bzero(job->token, sizeof(job->token));
}
