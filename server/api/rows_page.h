/* rows_page.h - a page of a run's result rows, perhaps of some of them only */
#ifndef RINGBENCH_SERVER_API_ROWS_PAGE_H
#define RINGBENCH_SERVER_API_ROWS_PAGE_H

#include "server/api/api.h"
#include "server/api/follow.h"

/* Whether the request asks for a page: it has one of its parameters. */
bool rows_page_is_asked(const struct http_request *request);

/* Answer with the page, in the form and with the samples of `how`. run: its document,
 * borrowed. */
void rows_page_reply(struct api *api, struct http_request *request, const json_t *run,
                     const struct follow_options *how);

#endif
