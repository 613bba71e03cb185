/* case_files.c - files beside a case's own */
#include "agent/process/case_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/process/case_input.h"
#include "common/base/json_util.h"
#include "common/base/log.h"

#define ARTIFACT_MAX ((size_t)512 * 1024) /* escaped at worst, an event of 3 MiB */
#define FILE_PATH_MAX (CASE_PATH_MAX + 16)

/* What NCCL reads, and what it writes and which rank does: of NCCL 2.18 to 2.30,
 * src/graph/topo.cc, src/graph/search.cc, src/init.cc. */
static const struct {
    const char *variable, *end;
} given[] = {{"NCCL_TOPO_FILE", ".topo-in"}, {"NCCL_GRAPH_FILE", ".graph-in"}};
static const struct {
    const char *variable, *rank, *end, *name;
} dumps[] = {
    {"NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_DUMP_FILE_RANK", ".topo", "topology.xml"},
    {"NCCL_GRAPH_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE_RANK", ".graph", "graph.xml"}};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *beside(const char *path, const char *end, char out[FILE_PATH_MAX])
{
    snprintf(out, FILE_PATH_MAX, "%s%s", path, end);
    return out;
}

static int write_text(const char *path, const char *text, struct error *err)
{
    FILE *file = fopen(path, "we");
    bool is_written = file && fputs(text, file) >= 0;

    if (file && fclose(file) == 0 && is_written)
        return 0;
    return error_set(err, ERROR_IO, "can't write %s", path);
}

/* Every rank names the dumps, since from NCCL 2.21 on the ranks of a node detect it
 * together, once more where a dump is asked for; one of them writes. */
int case_files_prepare(struct env_list *list, const struct command *command,
                       const char *path, struct error *err)
{
    bool has_dumps = strcmp(json_get_str(command->spec, "topology", ""), "dump") == 0;
    char name[FILE_PATH_MAX];
    int status = 0;

    for (size_t i = 0; i < COUNT(given); i++) {
        const char *text = json_get_str(command->files, given[i].variable, NULL);

        if (!text)
            continue;
        if (write_text(beside(path, given[i].end, name), text, err))
            return -1;
        status |= env_list_set(list, given[i].variable, name);
    }
    for (size_t i = 0; has_dumps && i < COUNT(dumps); i++) {
        status |= env_list_set(list, dumps[i].variable, beside(path, dumps[i].end, name));
        status |= env_list_set_int(list, dumps[i].rank, command->ranks[0].rank);
    }
    return status ? error_set(err, ERROR_MEMORY, "out of memory") : 0;
}

static void send_text(struct outbox *outbox, const struct case_id *id, const char *name,
                      const char *text, size_t len)
{
    json_t *event = json_pack("{s:s, s:s, s:s%}", "type", "artifact", "name", name,
                              "text", text, len);

    if (event)
        outbox_add_steal(outbox, id, OUTBOX_NO_RANK, event);
    else
        log_warn("run %s case %lld: NCCL's %s is no text", id->run, (long long)id->number,
                 name);
}

/* What the workers left may be anything: only a file is read. */
static FILE *open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        file = fdopen(fd, "r");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

void case_files_send(struct outbox *outbox, const struct case_id *id, const char *path)
{
    char *text = path[0] ? malloc(ARTIFACT_MAX + 1) : NULL, name[FILE_PATH_MAX];

    for (size_t i = 0; text && i < COUNT(dumps); i++) {
        FILE *file = open_file(beside(path, dumps[i].end, name));
        size_t len = file ? fread(text, 1, ARTIFACT_MAX + 1, file) : 0;

        if (file)
            fclose(file);
        if (len > ARTIFACT_MAX)
            log_warn("run %s case %lld: NCCL's %s has more than %zu bytes", id->run,
                     (long long)id->number, dumps[i].name, ARTIFACT_MAX);
        else if (len > 0)
            send_text(outbox, id, dumps[i].name, text, len);
    }
    free(text);
}

void case_files_remove(const char *path)
{
    char name[FILE_PATH_MAX];

    if (!path[0])
        return;
    unlink(path);
    for (size_t i = 0; i < COUNT(given); i++)
        unlink(beside(path, given[i].end, name));
    for (size_t i = 0; i < COUNT(dumps); i++)
        unlink(beside(path, dumps[i].end, name));
}
