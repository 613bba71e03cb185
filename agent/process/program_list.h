/* SPDX-License-Identifier: Apache-2.0 */
/* program_list.h - reads the programs that this node offers from programs.d */
#ifndef RINGBENCH_AGENT_PROCESS_PROGRAM_LIST_H
#define RINGBENCH_AGENT_PROCESS_PROGRAM_LIST_H

#include <jansson.h>

#include "agent/process/program.h"

#define PROGRAMS_MAX 128

struct program_list;

/* Read CONFIG_DIR/programs.d/NAME.json in the order of names. An invalid file is skipped;
 * each of its errors is logged with the file's name. Without the directory there are no
 * programs. */
struct program_list *program_list_load(const char *config_dir);
void program_list_destroy(struct program_list *list);

/* NULL if this node does not offer it. */
const struct program *program_list_find(const struct program_list *list,
                                        const char *name);

/* A new array for the registration. */
json_t *program_list_json(const struct program_list *list);

#endif
