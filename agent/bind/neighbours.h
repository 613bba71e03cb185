/* neighbours.h - the other agents of this machine that may use the same CPUs
 *
 * Each agent holds a socket whose abstract name says which CPUs it may use; the kernel
 * lists them and forgets an agent's when it dies, however it dies. Abstract names are of
 * a network namespace: agents in containers are known to the server, which compares what
 * they register (server/nodes). */
#ifndef RINGBENCH_AGENT_BIND_NEIGHBOURS_H
#define RINGBENCH_AGENT_BIND_NEIGHBOURS_H

#include <hwloc.h>
#include <stddef.h>

#define NEIGHBOURS_MACHINE_MAX 128

/* The boot id, which is the same in all containers of a machine; RINGBENCH_MACHINE, for
 * tests, says another. "" where it can't be read. Returns text. */
const char *neighbours_machine(char text[NEIGHBOURS_MACHINE_MAX]);

/* Be seen by the others from now on: a descriptor to close, or -1, which only means that
 * others do not see this one. */
int neighbours_announce(const char *machine, hwloc_const_cpuset_t cpus);

/* How many agents on this machine may use one of these CPUs, this one included if it was
 * announced. `list` is what the kernel lists, /proc/net/unix. */
size_t neighbours_count(const char *list, const char *machine, hwloc_const_cpuset_t cpus);

#endif
