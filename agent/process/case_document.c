/* SPDX-License-Identifier: Apache-2.0 */
/* case_document.c - builds the document that starts a case in ringbench-case */
#include "agent/process/case_document.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/json_util.h"
#include "common/ncclog/nccl_conf.h"
#include "common/spec/command_template.h"

/* NCCL's variables for its input files (`given`) and for the files that one rank dumps
 * (`dumps`). NCCL 2.18 to 2.30: src/graph/topo.cc, src/graph/search.cc, src/init.cc. */
static const struct {
    const char *variable, *end;
} given[] = {{"NCCL_TOPO_FILE", ".topo-in"}, {"NCCL_GRAPH_FILE", ".graph-in"}};
static const struct {
    const char *variable, *rank, *end, *name;
} dumps[] = {
    {"NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_DUMP_FILE_RANK", ".topo", "topology.xml"},
    {"NCCL_GRAPH_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE_RANK", ".graph", "graph.xml"}};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define BESIDE_MAX (CASE_PATH_MAX + 32)

struct writing {
    const struct command *command;
    const struct program *program; /* NULL: a worker */
    const char *path;              /* of the case file */
    json_t *document;
    struct env_list env;
};

/* ---- the program ---- */

static json_t *strings_json(char *const *strings)
{
    json_t *array = json_array();

    for (; strings && *strings; strings++)
        json_array_append_new(array, json_clean_string(*strings));
    return array;
}

static int set_program(struct writing *w, const struct supervisor_params *params,
                       json_t *asked, struct error *err)
{
    const char *name = json_get_str(asked, "name", "");
    char **argv;

    w->program = program_list_find(params->programs, name);
    if (!w->program)
        return error_set(err, ERROR_NOT_FOUND,
                         "/program/name: this node offers no program '%.64s'", name);
    argv = program_argv(w->program, json_object_get(asked, "args"), err);
    if (!argv)
        return -1;
    json_object_update_new(w->document,
                           json_pack("{s:s, s:o, s:s*, s:{s:O*, s:I}}", "path",
                                     w->program->path, "argv", strings_json(argv), "cwd",
                                     w->program->cwd, "program", "metrics",
                                     w->program->metric_rules, "timeout_s",
                                     (json_int_t)w->program->timeout_s));
    command_template_free(argv);
    return 0;
}

static int set_executable(struct writing *w, const struct supervisor_params *params,
                          struct error *err)
{
    json_t *asked = json_object_get(w->command->spec, "program");
    char worker[CASE_PATH_MAX];

    if (asked && !json_is_null(asked))
        return set_program(w, params, asked, err);
    snprintf(worker, sizeof(worker), "%s/ringbench-worker-%s", params->worker_dir,
             w->command->backend);
    json_object_update_new(w->document,
                           json_pack("{s:s, s:[s]}", "path", worker, "argv", worker));
    return 0;
}

/* ---- files ---- */

static const char *beside(const struct writing *w, const char *end, char out[BESIDE_MAX])
{
    snprintf(out, BESIDE_MAX, "%s%s", w->path, end);
    return out;
}

/* Set the dump variables for every rank, although only one rank writes. From NCCL 2.21 on
 * the ranks of a node detect the topology together, and again if a dump is requested. */
static void set_files(struct writing *w)
{
    bool has_dumps = strcmp(json_get_str(w->command->spec, "topology", ""), "dump") == 0;
    json_t *files = json_object(), *artifacts = json_object();
    char name[BESIDE_MAX], rank[16];

    json_object_set(files, w->path, (json_t *)(uintptr_t)w->command->spec);
    for (size_t i = 0; i < COUNT(given); i++) {
        json_t *text = json_object_get(w->command->files, given[i].variable);

        if (!text)
            continue;
        json_object_set(files, beside(w, given[i].end, name), text);
        env_list_set(&w->env, given[i].variable, name);
    }
    snprintf(rank, sizeof(rank), "%d", w->command->ranks[0].rank);
    for (size_t i = 0; has_dumps && i < COUNT(dumps); i++) {
        env_list_set(&w->env, dumps[i].variable, beside(w, dumps[i].end, name));
        env_list_set(&w->env, dumps[i].rank, rank);
        json_object_set_new(artifacts, dumps[i].name, json_string(name));
    }
    json_object_update_new(
        w->document, json_pack("{s:o, s:o}", "files", files, "artifacts", artifacts));
}

void case_document_remove_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    DIR *entries = folder ? opendir(folder) : NULL;
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (strstr(entry->d_name, slash + 1) == entry->d_name)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    free(folder);
}

/* ---- variables ---- */

/* Set the administrator's variables first, so that the run can override those that it is
 * allowed to set. */
static int set_env(struct writing *w, const struct supervisor_params *params,
                   struct error *err)
{
    if (w->program)
        env_list_apply(&w->env, w->program->env);
    if (case_input_set_library(&w->env, w->command, params->nccl_libs, err))
        return -1;
    case_input_set_env(&w->env, w->command, w->path);
    return 0;
}

static bool is_chosen(const struct writing *w, const char *name)
{
    char value[8];

    return env_list_get(&w->env, name) ||
           nccl_conf_find(env_list_get(&w->env, "NCCL_CONF_FILE"),
                          env_list_get(&w->env, "HOME"), name, value, sizeof(value));
}

/* If neither the run nor the node sets NCCL's log for a program, log connections to a
 * pipe per rank. Workers do this themselves. NCCL expands % in the file's name, so if the
 * path contains a %, the log goes to stdout. Returns true if the log goes to a pipe. */
static bool route_nccl_log(struct writing *w)
{
    if (is_chosen(w, "NCCL_DEBUG") || is_chosen(w, "NCCL_DEBUG_FILE"))
        return false;
    env_list_set(&w->env, "NCCL_DEBUG", "INFO");
    if (!is_chosen(w, "NCCL_DEBUG_SUBSYS"))
        env_list_set(&w->env, "NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET");
    json_object_set_new(w->document, "hides_info", json_true());
    return !strchr(w->path, '%');
}

/* ---- ranks ---- */

static void add_rank(const struct writing *w, json_t *ranks, size_t i, bool has_log,
                     const struct bind_plan *plan)
{
    const struct command_rank *rank = &w->command->ranks[i];
    char *cpus = bind_plan_cpus(plan, i), log[BESIDE_MAX];
    json_t *env = case_input_rank_env(rank, cpus);
    json_t *one = json_pack("{s:i, s:o}", "rank", rank->rank, "env", env);

    if (has_log) {
        snprintf(log, sizeof(log), "%s.nccl-%d", w->path, rank->rank);
        json_object_set_new(env, "NCCL_DEBUG_FILE", json_string(log));
        json_object_set_new(one, "nccl_log", json_string(log));
    }
    json_array_append_new(ranks, one);
    free(cpus);
}

static json_t *ranks_json(const struct writing *w, bool has_log,
                          const struct bind_plan *plan)
{
    json_t *ranks = json_array();

    for (size_t i = 0; i < w->command->n_ranks; i++)
        add_rank(w, ranks, i, has_log, plan);
    return ranks;
}

json_t *case_document(const struct supervisor_params *params, const struct env_list *base,
                      const struct command *command, const struct bind_plan *plan,
                      char path[CASE_PATH_MAX], struct error *err)
{
    struct writing w = {command, NULL, path, json_object(), {NULL, 0, 0}};
    const struct case_id *id = &command->id;
    char name[128];
    bool has_log;

    env_list_copy(&w.env, base->items);
    if (case_input_check_env(command->env, params->consented, err) ||
        case_input_path(command, params->case_dir, path, err) ||
        set_executable(&w, params, err) || set_env(&w, params, err)) {
        json_decref(w.document);
        env_list_release(&w.env);
        return NULL;
    }
    set_files(&w);
    if (!w.program && !env_list_get(&w.env, "NCCL_DEBUG"))
        json_object_set_new(w.document, "hides_info", json_true());
    has_log = w.program && route_nccl_log(&w);
    snprintf(name, sizeof(name), "run %s case %lld", id->run, (long long)id->number);
    json_object_update_new(w.document,
                           json_pack("{s:s, s:b, s:o, s:o}", "name", name, "has_peers",
                                     (size_t)command->world_size > command->n_ranks,
                                     "ranks", ranks_json(&w, has_log, plan), "env",
                                     strings_json(w.env.items)));
    env_list_release(&w.env);
    return w.document;
}
