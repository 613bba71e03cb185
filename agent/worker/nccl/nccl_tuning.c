/* nccl_tuning.c - which algorithm NCCL takes for a call, by its log's subsystem TUNING */
#include "agent/worker/nccl/nccl_tuning.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "agent/worker/base/thread.h"
#include "agent/worker/nccl/nccl_profiler.h"

#define LINE_MAX_BYTES 1200 /* NCCL cuts them at 1024 */

/* "AllReduce_AGxLL_R": what stands behind the function. */
static void set_kernel(struct choice *out, const char *name, int channels)
{
    const char *kind = strchr(name, '_');

    snprintf(out->algo, sizeof(out->algo), "SYMMETRIC");
    snprintf(out->proto, sizeof(out->proto), "%s", kind ? kind + 1 : name);
    out->channels = channels;
}

static void set_numbers(struct choice *out, unsigned algo, unsigned proto)
{
    snprintf(out->algo, sizeof(out->algo), "%s", nccl_algorithm(algo));
    snprintf(out->proto, sizeof(out->proto), "%s", nccl_protocol(proto));
}

bool nccl_tuning_parse(const char *line, struct choice *out)
{
    const char *at = strstr(line, " Bytes -> ");
    struct choice found = {.by = "log"};
    unsigned algo, proto;
    int low, high;
    char kernel[64];

    if (!strstr(line, " NCCL INFO ") || !at)
        return false;
    at += strlen(" Bytes -> ");
    if (sscanf(at, "Kernel %63s nchannels %4d", kernel, &high) == 2)
        set_kernel(&found, kernel, high);
    else if (strncmp(at, "cudaMemcpy", strlen("cudaMemcpy")) == 0)
        snprintf(found.algo, sizeof(found.algo), "COPY_ENGINE");
    else if (sscanf(at, "Algo %4u proto %4u", &algo, &proto) == 2)
        set_numbers(&found, algo, proto);
    else if (sscanf(at, "Algo %15s proto %23s channel{Lo..Hi}={%4d..%4d}", found.algo,
                    found.proto, &low, &high) == 4)
        found.channels = high - low + 1;
    if (!*found.algo || found.channels < 0)
        return false;
    *out = found;
    return true;
}

static bool is_asked_for(void)
{
    const char *level = getenv("NCCL_DEBUG"), *parts = getenv("NCCL_DEBUG_SUBSYS");

    return level && parts && *parts != '^' && strcasestr(parts, "TUNING") &&
           (strcasecmp(level, "INFO") == 0 || strcasecmp(level, "TRACE") == 0);
}

static char *kept(const char *name)
{
    const char *value = getenv(name);

    return value ? strdup(value) : NULL;
}

static void give_back(const char *name, char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    free(value);
}

/* What is printed besides goes on: connections come with the first call. */
static void switch_on(struct nccl_tuning *tuning, void (*reset)(void))
{
    char parts[512];

    tuning->level = kept("NCCL_DEBUG");
    tuning->parts = kept("NCCL_DEBUG_SUBSYS");
    bool is_info = tuning->level && strcasecmp(tuning->level, "INFO") == 0;
    snprintf(parts, sizeof(parts), "%s%sTUNING",
             !is_info        ? ""
             : tuning->parts ? tuning->parts
                             : "INIT,BOOTSTRAP,ENV",
             is_info ? "," : "");
    setenv("NCCL_DEBUG", "INFO", 1);
    setenv("NCCL_DEBUG_SUBSYS", parts, 1);
    tuning->is_switched = true;
    reset();
}

/* As it comes: of a worker that is killed in the call, its warnings are known. */
static void *pass_lines(void *arg)
{
    struct nccl_tuning *tuning = arg;
    char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof(line), tuning->lines)) {
        if (!*tuning->found.algo)
            nccl_tuning_parse(line, &tuning->found);
        if (tuning->table)
            nccl_table_read(tuning->table, line);
        dprintf(tuning->output, "%s", line);
    }
    return NULL;
}

/* What is printed goes to a thread first. */
static bool redirect(struct nccl_tuning *tuning)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return false;
    tuning->lines = fdopen(ends[0], "r");
    tuning->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    bool is_read = tuning->lines && tuning->output >= 0 &&
                   !thread_start(&tuning->reader, "nccl output", pass_lines, tuning);
    if (is_read)
        dup2(ends[1], STDOUT_FILENO);
    else if (tuning->lines)
        fclose(tuning->lines);
    close(ends[1]);
    return is_read;
}

void nccl_tuning_begin(struct nccl_tuning *tuning, void (*reset)(void))
{
    if (getenv("NCCL_DEBUG_FILE") || (!is_asked_for() && !reset))
        return;
    fflush(stdout);
    tuning->is_read = redirect(tuning);
    if (tuning->is_read && !is_asked_for())
        switch_on(tuning, reset);
}

void nccl_tuning_hear(struct nccl_tuning *tuning, struct nccl_table *table)
{
    if (getenv("NCCL_DEBUG_FILE") || !is_asked_for())
        return;
    fflush(stdout);
    tuning->table = table;
    tuning->is_read = redirect(tuning);
}

void nccl_tuning_end(struct nccl_tuning *tuning, void (*reset)(void), struct choice *out)
{
    if (!tuning->is_read)
        return;
    fflush(stdout);
    dup2(tuning->output, STDOUT_FILENO);
    pthread_join(tuning->reader, NULL);
    fclose(tuning->lines);
    close(tuning->output);
    if (tuning->is_switched) {
        give_back("NCCL_DEBUG", tuning->level);
        give_back("NCCL_DEBUG_SUBSYS", tuning->parts);
        reset();
    }
    if (out && *tuning->found.algo)
        *out = tuning->found;
    *tuning = (struct nccl_tuning){.is_read = false};
}
