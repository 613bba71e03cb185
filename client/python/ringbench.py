# SPDX-License-Identifier: Apache-2.0
# ringbench.py - Python client of a ringbench server. One file, Python 3.6 or newer, no packages.
"""Start, follow and judge benchmark runs on a ringbench server.

    import ringbench

    client = ringbench.Client("http://head:8080", token_file="operator.token")
    run = client.submit({"nodes": {"count": 4}, "sizes": {"min": "1M", "max": "1G"}})
    for row in client.rows(run["id"]):
        print(row["size"], row["time_us"], row["busbw_gbs"])
    print(client.wait(run["id"])["state"])

Answers are the API's JSON documents as dicts (docs/reference/api.md, /openapi.json). If the server
refuses a request, ringbench.Error is raised, and its `errors` name the wrong fields. If the server
cannot be reached, ringbench.Unreachable is raised after retry_s. Until then reads and run starts are
repeated. A server restart neither ends a stream nor starts a run twice.
"""
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# Requests by method of Client: HTTP method, path and query parameters.
OPERATIONS = {
    "submit": ("POST", "/api/v1/runs", ()),
    "validate": ("POST", "/api/v1/runs/validate", ()),
    "list": ("GET", "/api/v1/runs", ("state", "label", "q", "node", "suspect", "judged", "verdict",
                                     "since", "until", "sort", "order", "limit", "cursor")),
    "get": ("GET", "/api/v1/runs/{id}", ()),
    "cancel": ("POST", "/api/v1/runs/{id}/cancel", ()),
    "delete": ("DELETE", "/api/v1/runs/{id}", ()),
    "follow_up": ("POST", "/api/v1/runs/{id}/follow_up", ()),
    "events": ("GET", "/api/v1/runs/{id}/events", ("after", "results", "format")),
    "results": ("GET", "/api/v1/runs/{id}/results", ("limit", "after", "case", "series", "group",
                                                     "size", "rank", "metric", "samples", "ranks")),
    "gate": ("GET", "/api/v1/runs/{id}/verdict", ("wait",)),
    "compare": ("GET", "/api/v1/compare", ("base", "head", "base_env", "head_env", "last", "like",
                                           "margin_percent")),
    "nodes": ("GET", "/api/v1/nodes", ("inventory",)),
}

FINAL_STATES = ("completed", "failed", "cancelled")


class Error(Exception):
    """The server refused a request. Carries its problem document (RFC 9457)."""

    def __init__(self, status, detail, errors=()):
        self.status = status
        self.detail = detail
        self.errors = list(errors)  # [{"pointer": "/sizes/max", "detail": "must be ..."}]
        fields = ["{pointer}: {detail}".format(**error) for error in self.errors]
        super().__init__("\n  ".join(["{}: {}".format(status, detail)] + fields))


class Unreachable(Exception):
    """The server could not be reached, or stopped answering."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Never follow redirects: the token would go to another host. The server sends none."""

    def redirect_request(self, *args, **kwargs):
        return None


class Client:
    """A client of one server. Defaults are the environment variables of the script `ringbench`:
    RINGBENCH_SERVER, RINGBENCH_TOKEN_FILE and RINGBENCH_CA_FILE.

    timeout_s: longest silence of a read. retry_s: how long to retry an unreachable server.
    """

    def __init__(self, url=None, token=None, token_file=None, ca_file=None, timeout_s=60,
                 retry_s=60):
        self.url = (url or os.environ.get("RINGBENCH_SERVER") or "http://127.0.0.1:8080").rstrip("/")
        token_file = token_file or os.environ.get("RINGBENCH_TOKEN_FILE")
        if token is None and token_file:
            with open(token_file) as file:
                token = file.read().strip()
        ca_file = ca_file or os.environ.get("RINGBENCH_CA_FILE")
        self._headers = {"Authorization": "Bearer " + token} if token else {}
        self._timeout_s = timeout_s
        self._retry_s = retry_s
        context = ssl.create_default_context(cafile=ca_file or None)
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=context))

    # ---- runs ----

    def submit(self, spec, key=None):
        """Start a run and return its document. Equal keys and specs return the same run."""
        return self._call("submit", body=spec, headers={"Idempotency-Key": key or uuid.uuid4().hex})

    def validate(self, spec):
        """Validate a spec: nodes, cases and estimated time of the run. Starts nothing."""
        return self._call("validate", body=spec)

    def list(self, **filters):
        """Iterate over runs, newest first, without rows. Filters: label="rack=b7", state="failed"."""
        return self._pages("list", "runs", "cursor", filters)

    def get(self, run):
        return self._call("get", run)

    def cancel(self, run):
        return self._call("cancel", run)

    def delete(self, run):
        self._call("delete", run)

    def follow_up(self, run, key=None):
        """Start the follow-up run that searches for this run's slow node."""
        return self._call("follow_up", run, headers={"Idempotency-Key": key or uuid.uuid4().hex})

    def wait(self, run, timeout_s=None):
        """Wait for the run's end and return the run. TimeoutError after timeout_s."""
        self.gate(run, timeout_s)
        return self.get(run)

    # ---- streams ----

    def events(self, run, after=0, results=True):
        """Iterate over the run's events with ids above `after`, until the run ends."""
        lost_at, is_over = None, False
        while True:
            is_empty = False
            query = {"after": after, "results": int(results), "format": "ndjson"}
            try:
                with self._open("events", run, query) as answer:
                    is_empty = True
                    for line in answer:
                        event = json.loads(line.decode())
                        lost_at, is_empty, after = None, False, event["id"]
                        yield event
                        if event["type"] == "state" and event["state"] in FINAL_STATES:
                            return
            except Error as error:
                if error.status != 503:
                    raise
            except (OSError, http.client.HTTPException, ValueError) as error:
                # The stream broke, perhaps within a line: resume after the last complete event.
                if self._is_final(error):
                    raise Unreachable("{}: {}".format(self.url, error)) from error
                is_empty = False
            if is_empty and is_over:
                return  # the run has no events after `after`
            is_over = is_empty and self.get(run)["state"] in FINAL_STATES
            lost_at = lost_at or time.monotonic()
            if time.monotonic() - lost_at > self._retry_s:
                raise Unreachable("{}: the event stream of run {} ended early".format(self.url, run))
            time.sleep(0.2)

    def rows(self, run):
        """Iterate over the run's rows as they are measured."""
        return (event for event in self.events(run) if event["type"] == "result")

    def results(self, run, **filters):
        """Iterate over the stored rows. Filters: size="64M", samples=1."""
        return self._pages("results", "rows", "after", filters, run)

    # ---- verdicts ----

    def gate(self, run, timeout_s=None):
        """Wait for the verdict of the run's checks: ["verdict"]["answer"] is "pass", "fail" or
        "not_evaluated". TimeoutError if the run has not ended after timeout_s."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = self._timeout_s / 2 if end is None else end - time.monotonic()
            wait_s = max(0, min(int(left), max(1, int(self._timeout_s / 2))))
            answer = self._call("gate", run, {"wait": wait_s})
            if answer["state"] in FINAL_STATES:
                return answer
            if end is not None and left < 1:
                raise TimeoutError("run {} is {} after {} s".format(run, answer["state"], timeout_s))

    def compare(self, base, head, **options):
        """Compare head with base (each RUN or RUN:CASE): ["verdict"]["answer"] is "better",
        "worse", "same", "mixed" or "not_enough_data"."""
        return self._call("compare", query=dict(options, base=base, head=head))

    def nodes(self, inventory=False):
        return self._call("nodes", query={"inventory": int(inventory)})["nodes"]

    # ---- requests ----

    def _pages(self, name, member, cursor, filters, run=None):
        while True:
            page = self._call(name, run, filters)
            for item in page[member]:
                yield item
            if page.get("next") is None:
                return
            filters = dict(filters, **{cursor: page["next"]})

    def _call(self, name, run=None, query=None, body=None, headers=None):
        """Send a request and return its JSON answer. Safe requests are retried for retry_s."""
        method = OPERATIONS[name][0]
        is_safe = method == "GET" or "Idempotency-Key" in (headers or {})
        end = time.monotonic() + (self._retry_s if is_safe else 0)
        while True:
            try:
                with self._open(name, run, query, body, headers) as answer:
                    text = answer.read()
                return json.loads(text.decode()) if text else None
            except Error as error:
                if error.status != 503 or time.monotonic() > end:
                    raise
            except (OSError, http.client.HTTPException) as error:
                if self._is_final(error) or time.monotonic() > end:
                    raise Unreachable("{}: {}".format(self.url, error)) from error
            time.sleep(0.2)

    @staticmethod
    def _is_final(error):
        """True for an untrusted certificate, which is final. Other TLS failures are retried."""
        reason = getattr(error, "reason", error)
        return isinstance(reason, ssl.SSLError) and not isinstance(
            reason, (ssl.SSLEOFError, ssl.SSLZeroReturnError))

    def _open(self, name, run=None, query=None, body=None, headers=None):
        method, path, known = OPERATIONS[name]
        unknown = sorted(set(query or {}) - set(known))
        if unknown:
            raise TypeError("{}() has no parameter {}; known are {}".format(
                name, ", ".join(unknown), ", ".join(known)))
        url = self.url + path.format(id=urllib.parse.quote(str(run), safe=""))
        if query:
            url += "?" + urllib.parse.urlencode(query, doseq=True)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, dict(self._headers, **(headers or {})),
                                         method=method)
        request.add_header("Accept", "application/x-ndjson" if name == "events" else "application/json")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            return self._opener.open(request, timeout=self._timeout_s)
        except urllib.error.HTTPError as answer:
            with answer:
                raise self._error(answer.code, answer.read(), answer.reason) from None

    @staticmethod
    def _error(status, text, reason):
        try:
            problem = json.loads(text.decode())
            return Error(status, problem["detail"], problem.get("errors", ()))
        except (ValueError, KeyError, TypeError):  # not a ringbench server, or a proxy's error page
            return Error(status, str(reason))
