/* report.h - a run as one page of HTML that needs nothing else: no server, no script */
#ifndef RINGBENCH_SERVER_REPORT_REPORT_H
#define RINGBENCH_SERVER_REPORT_REPORT_H

#include "common/buf.h"
#include "server/report/facts.h"

#define REPORT_BYTES_MAX ((size_t)256 << 20)

/* The page; out is initialised here, and to be released by the caller also on failure.
 * -1 when memory is out or the page would exceed REPORT_BYTES_MAX. Pure but for the
 * facts, so that it may run on any thread. */
int report_write(const struct facts *facts, struct buf *out);

#endif
