/* forms.h - the lines of NCCL's log, by form */
#ifndef RINGBENCH_COMMON_NCCLOG_FORMS_H
#define RINGBENCH_COMMON_NCCLOG_FORMS_H

#include "common/ncclog/ncclog.h"

/* Take what the text behind " NCCL INFO " says; terminated. False: no form is like it. */
bool ncclog_take(struct ncclog *log, const char *text);

#endif
