/* call_queue.h - whose turn it is to ask its engine. Private to server/launch. */
#ifndef RINGBENCH_SERVER_LAUNCH_CALL_QUEUE_H
#define RINGBENCH_SERVER_LAUNCH_CALL_QUEUE_H

struct jobs;

/* Run commands that are due, as many as there is room for (engine_call.h) and a turn of
 * the loop bears: first those that stop jobs, then who has waited longest. What does not
 * come to its turn stays due. */
void call_queue_run(struct jobs *jobs);

#endif
