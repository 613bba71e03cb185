/* style.h - how a report looks, and what its document may do */
#ifndef RINGBENCH_SERVER_REPORT_STYLE_H
#define RINGBENCH_SERVER_REPORT_STYLE_H

#include <stddef.h>

/* The content of the page's one style element. */
const char *style_text(void);

#define STYLE_POLICY_MAX 256

/* A Content-Security-Policy under which the report shows as it should and nothing else
 * goes: no script, no request, no style but this one, which is named by its hash. The
 * same in the page as in the answer's header, so that it holds for a saved file too. */
int style_policy(char out[STYLE_POLICY_MAX]);

#endif
