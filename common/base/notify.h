/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - what systemd is told of a service of Type=notify (sd_notify(3)) */
#ifndef RINGBENCH_COMMON_BASE_NOTIFY_H
#define RINGBENCH_COMMON_BASE_NOTIFY_H

/* Send lines such as "READY=1" to the socket that NOTIFY_SOCKET names. Without one, or
 * where that fails, nothing happens: who asked for it waits in vain, and says so. */
void notify(const char *lines);

#endif
