/* suspects.h - which nodes a verdict names */
#ifndef RINGBENCH_SERVER_ANALYSIS_SUSPECTS_H
#define RINGBENCH_SERVER_ANALYSIS_SUSPECTS_H

#include <jansson.h>

/* Append {"kind","answer","sentence","nodes"} for a verdict that names nodes, and for one
 * of kind culprit that clears all that it looked at ("nodes" is then empty); nothing for
 * any other, or for NULL. */
void suspects_add(json_t *suspects, const json_t *verdict);

#endif
