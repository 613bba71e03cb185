/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - parses the lines of NCCL's log */
#ifndef RINGBENCH_COMMON_NCCLOG_FORMS_H
#define RINGBENCH_COMMON_NCCLOG_FORMS_H

#include "common/ncclog/ncclog.h"

/* Parse the NUL-terminated text after " NCCL INFO ". Return false if no form matches. */
bool ncclog_take(struct ncclog *log, const char *text);

/* Parse a warning's text, and store it if it explains the transport that NCCL chose. */
void ncclog_take_warning(struct ncclog *log, const char *text);

#endif
