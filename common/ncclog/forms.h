/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - the line forms of NCCL's log */
#ifndef RINGBENCH_COMMON_NCCLOG_FORMS_H
#define RINGBENCH_COMMON_NCCLOG_FORMS_H

#include "common/ncclog/ncclog.h"

/* Read the NUL-terminated text after " NCCL INFO ". Return false if no form matches. */
bool ncclog_take(struct ncclog *log, const char *text);

/* Read a warning's text: it either explains the transport that NCCL chose, or is ignored.
 * */
void ncclog_take_warning(struct ncclog *log, const char *text);

#endif
