/* chooser.h - the algorithm that the emulated NCCL takes for a call, and its log of that
 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_CHOOSER_H
#define RINGBENCH_TESTS_NCCL_EMULATION_CHOOSER_H

#include <stdbool.h>

#include "tests/nccl_emulation/operation.h"

/* As NCCL counts them. */
struct chosen {
    int algo, proto, channels;
    bool is_symmetric; /* a kernel of another kind, of which none of that is true */
    float time_us;     /* that it expects */
};

struct chosen chooser_take(const struct operation *operation);

const char *chooser_function(const struct operation *operation); /* "AllReduce" */
const char *chooser_algorithm(int algo);
const char *chooser_protocol(int proto);

/* Before the first call. */
void chooser_begin(void);
bool chooser_logs(void); /* whether the log has the subsystem TUNING */

/* NCCL's line of the subsystem TUNING, where its log has that. */
void chooser_log(const struct operation *operation);

#endif
