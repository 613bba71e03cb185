/* SPDX-License-Identifier: Apache-2.0 */
/* program_list.h - the programs that this node offers, from programs.d */
#ifndef RINGBENCH_AGENT_PROCESS_PROGRAM_LIST_H
#define RINGBENCH_AGENT_PROCESS_PROGRAM_LIST_H

#include <jansson.h>

#include "agent/process/program.h"

#define PROGRAMS_MAX 128

struct program_list;

/* Read CONFIG_DIR/programs.d/NAME.json, in the order of names. A file that is wrong is
 * left out, and each of its faults logged with the file's name; no such directory: no
 * programs. */
struct program_list *program_list_load(const char *config_dir);
void program_list_destroy(struct program_list *list);

/* Borrowed; NULL when it is not offered. */
const struct program *program_list_find(const struct program_list *list,
                                        const char *name);

/* A new array of what the server is told. */
json_t *program_list_json(const struct program_list *list);

#endif
