/* ras.h - what NCCL's RAS says of a communicator: who is out of reach, and who has
 * launched less than the others
 *
 * The protocol and its answers are of NCCL 2.24 to 2.30 (its user guide, "RAS", and what
 * 2.28.9 sends): lines over TCP, and since 2.28.7 JSON where one asks for it. */
#ifndef RINGBENCH_AGENT_NCCLOG_RAS_H
#define RINGBENCH_AGENT_NCCLOG_RAS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What is sent: a version without JSON refuses that line and answers in text. RAS waits
 * 2 s for processes that do not answer. */
#define RAS_QUESTION "CLIENT PROTOCOL 2\nTIMEOUT 2\nSET FORMAT json\nVERBOSE STATUS\n"
#define RAS_ANSWER_MAX ((size_t)8 << 20)
#define RAS_RANKS_LISTED 1024

/* Which communicator is meant: that of all ranks, with all of these processes of this
 * node in it. Others' jobs may share the address, and other nodes have the same numbers.
 */
struct ras_case {
    int world_size;
    const long *pids;
    size_t n_pids;
    bool (*is_here)(const char *host); /* whether that is this node */
};

/* {"version","seen","missing":[RANK],"behind":[RANK],"least","most"}: ranks that
 * answered, those out of reach, and those with the fewest collectives launched if that
 * are no more than half, with how many they and the others have launched. Of an answer
 * in text {"text"}, its warnings. Any bytes are borne. A new reference; NULL when it says
 * nothing of the case. */
json_t *ras_read(const char *answer, size_t len, const struct ras_case *about);

#endif
