/* launch.c - what the ranks of a case are started with, and starting them one by one */
#include "agent/process/launch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/case_files.h"
#include "common/base/json_util.h"
#include "common/ncclog/nccl_conf.h"
#include "common/spec/command_template.h"

struct launch {
    const struct program *program; /* NULL: a worker */
    char **program_argv;
    char worker[CASE_PATH_MAX], *worker_argv[2];
    struct env_list env;
    struct command_rank *ranks;
    size_t n_ranks, n_started;
    struct rank_params rank;
    char log_stem[CASE_PATH_MAX]; /* what pipes for NCCL's log begin with; "": none */
};

void launch_destroy(struct launch *launch)
{
    if (!launch)
        return;
    command_template_free(launch->program_argv);
    env_list_release(&launch->env);
    free(launch->ranks);
    free(launch);
}

/* Which of this node's programs the case asks for, and with which arguments. */
static int find_program(struct launch *launch, const struct supervisor_params *params,
                        const struct command *command, long *limit_s, struct error *err)
{
    json_t *asked = json_object_get(command->spec, "program");
    const char *name = json_get_str(asked, "name", "");

    *limit_s = 0;
    if (!asked || json_is_null(asked))
        return 0;
    launch->program = program_list_find(params->programs, name);
    if (!launch->program)
        return error_set(err, ERROR_NOT_FOUND,
                         "/program/name: this node offers no program '%.64s'", name);
    *limit_s = launch->program->timeout_s;
    launch->program_argv =
        program_argv(launch->program, json_object_get(asked, "args"), err);
    return launch->program_argv ? 0 : -1;
}

/* The administrator's variables come first: a run may vary those that it may set. */
static int make_env(struct launch *launch, const struct env_list *base,
                    const struct supervisor_params *params, const struct command *command,
                    const char *path, struct error *err)
{
    const char *name;
    json_t *value;

    if (env_list_copy(&launch->env, base->items))
        return error_set(err, ERROR_MEMORY, "out of memory");
    json_object_foreach (launch->program ? launch->program->env : NULL, name, value)
        if (env_list_set(&launch->env, name, json_string_value(value)))
            return error_set(err, ERROR_MEMORY, "out of memory");
    return case_input_set_library(&launch->env, command, params->nccl_libs, err) ||
                   case_input_set_env(&launch->env, command, path, err) ||
                   case_files_prepare(&launch->env, command, path, err)
               ? -1
               : 0;
}

static bool is_chosen(const struct launch *launch, const char *name)
{
    char value[8];

    return env_list_get(&launch->env, name) ||
           nccl_conf_find(env_list_get(&launch->env, "NCCL_CONF_FILE"),
                          env_list_get(&launch->env, "HOME"), name, value, sizeof(value));
}

/* Where nobody chose what NCCL logs in a program, and where to, it says how it connects,
 * to a pipe of the rank's. A worker sees to that itself, and prints nothing else.
 * NCCL replaces what begins with % in the name: where the name has one, it prints. */
static int offer_log(struct launch *launch, const char *path, struct error *err)
{
    int n;

    if (!launch->program || is_chosen(launch, "NCCL_DEBUG") ||
        is_chosen(launch, "NCCL_DEBUG_FILE"))
        return 0;
    n = snprintf(launch->log_stem, sizeof(launch->log_stem), "%s.nccl", path);
    if (n >= CASE_PATH_MAX || strchr(path, '%'))
        launch->log_stem[0] = '\0';
    launch->rank.hides_info = true;
    if (env_list_set(&launch->env, "NCCL_DEBUG", "INFO") ||
        (!is_chosen(launch, "NCCL_DEBUG_SUBSYS") &&
         env_list_set(&launch->env, "NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET")))
        return error_set(err, ERROR_MEMORY, "out of memory");
    return 0;
}

static int copy_ranks(struct launch *launch, const struct command *command,
                      struct error *err)
{
    size_t bytes = command->n_ranks * sizeof(*launch->ranks);

    launch->ranks = malloc(bytes ? bytes : 1);
    if (!launch->ranks)
        return error_set(err, ERROR_MEMORY, "out of memory");
    memcpy(launch->ranks, command->ranks, bytes);
    launch->n_ranks = command->n_ranks;
    return 0;
}

static void name_executable(struct launch *launch, const struct supervisor_params *params,
                            const struct command *command)
{
    snprintf(launch->worker, sizeof(launch->worker), "%s/ringbench-worker-%s",
             params->worker_dir, command->backend);
    launch->worker_argv[0] = launch->worker;
    launch->rank.program.path = launch->worker;
    launch->rank.program.argv = launch->worker_argv;
    if (!launch->program)
        launch->rank.hides_info = !env_list_get(&launch->env, "NCCL_DEBUG");
    if (launch->program) {
        launch->rank.program.path = launch->program->path;
        launch->rank.program.argv = launch->program_argv;
        launch->rank.program.cwd = launch->program->cwd;
        launch->rank.metrics = launch->program->metrics;
    }
}

struct launch *launch_create(const struct supervisor_params *params,
                             const struct env_list *base, const struct command *command,
                             const struct rank_params *ends, char path[CASE_PATH_MAX],
                             long *limit_s, struct error *err)
{
    struct launch *launch = calloc(1, sizeof(*launch));

    if (!launch) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    env_list_init(&launch->env);
    launch->rank = *ends;
    launch->rank.outbox = params->outbox;
    if (case_input_check_env(command->env, params->consented, err) ||
        find_program(launch, params, command, limit_s, err) ||
        copy_ranks(launch, command, err) ||
        case_input_write_file(command, params->case_dir, path, err) ||
        make_env(launch, base, params, command, path, err) ||
        offer_log(launch, path, err)) {
        launch_destroy(launch);
        return NULL;
    }
    name_executable(launch, params, command);
    return launch;
}

size_t launch_left(const struct launch *launch)
{
    return launch->n_ranks - launch->n_started;
}

struct rank *launch_next(struct launch *launch, const struct bind_plan *plan,
                         struct error *err)
{
    const struct command_rank *next = &launch->ranks[launch->n_started];
    char *cpus = bind_plan_cpus(plan, launch->n_started), log[CASE_PATH_MAX + 16];
    int status = case_input_set_rank(&launch->env, next, cpus, err);
    struct rank *rank;

    assert(launch_left(launch) > 0);
    free(cpus);
    snprintf(log, sizeof(log), "%s-%d", launch->log_stem, next->rank);
    if (!status && launch->log_stem[0] &&
        env_list_set(&launch->env, "NCCL_DEBUG_FILE", log))
        status = error_set(err, ERROR_MEMORY, "out of memory");
    if (status)
        return NULL;
    launch->rank.nccl_log = launch->log_stem[0] ? log : NULL;
    launch->rank.number = next->rank;
    launch->rank.program.env = launch->env.items;
    rank = rank_start(&launch->rank, err);
    if (!rank) {
        error_prefix(err, "rank %d", next->rank);
        return NULL;
    }
    launch->n_started++;
    return rank;
}
