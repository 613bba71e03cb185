/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - the lines of NCCL's log, by form */
#ifndef RINGBENCH_COMMON_NCCLOG_FORMS_H
#define RINGBENCH_COMMON_NCCLOG_FORMS_H

#include "common/ncclog/ncclog.h"

/* Take what the text behind " NCCL INFO " says; terminated. False: no form is like it. */
bool ncclog_take(struct ncclog *log, const char *text);

/* The same of a warning, which is a reason for what is found of the ways, or nothing. */
void ncclog_take_warning(struct ncclog *log, const char *text);

#endif
