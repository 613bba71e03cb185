/* page_link.h - where the next page of an answer is, as a header */
#ifndef RINGBENCH_SERVER_API_PAGE_LINK_H
#define RINGBENCH_SERVER_API_PAGE_LINK_H

#include "server/api/task.h"

/* Add a Link header with rel="next": this resource with parameter `name` set to `value`,
 * and the route's other parameters that the request has, as they are and as often. */
void page_link_next(struct task *task, const char *name, const char *value);

#endif
