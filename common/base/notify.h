/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - sends notifications to systemd for a service of Type=notify
 * (sd_notify(3)) */
#ifndef RINGBENCH_COMMON_BASE_NOTIFY_H
#define RINGBENCH_COMMON_BASE_NOTIFY_H

/* Send lines such as "READY=1" to the socket in NOTIFY_SOCKET. Do nothing if that
 * variable is not set or sending fails: systemd then reports its own timeout. */
void notify(const char *lines);

#endif
