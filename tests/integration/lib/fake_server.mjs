// SPDX-License-Identifier: Apache-2.0
// fake_server.mjs - the server's side of the agent protocol, to be told what to answer
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';

import { atEnd } from './fixture.mjs';

export class FakeServer {
  constructor(t, options = {}) {
    this.options = { lease_s: 15, poll_s: 5, tls: null, ...options };
    this.registrations = []; // bodies
    this.events = []; // stored, in order
    this.progress = [];
    this.requests = []; // "METHOD path"
    this.headers = []; // of each
    this.commands = [];
    this.acked = 0;
    this.bootId = null;
    this.isKnown = false;
    this.hasLeft = false;
    this.leaves = []; // reasons announced, with the number of events stored before
    this.leaveAfterMs = 0; // until it takes an announcement
    this.waiting = []; // parked polls
    this.refuse = null; // (event) => text, to answer 422 to a batch
    this.answer = null; // (request, body) => {status, body} or undefined
    this.sockets = new Set();
    atEnd(t, () => this.die());
  }

  async listen(port = 0) {
    const { tls } = this.options; // {key, cert}
    const handler = (request, response) => this.handle(request, response);
    this.server = tls ? https.createServer(tls, handler) : http.createServer(handler);
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = /** @type {import('node:net').AddressInfo} */ (this.server.address()).port;
    this.url = `http${tls ? 's' : ''}://127.0.0.1:${this.port}`;
    return this;
  }

  // As kill -9 of a server: connections break, what is stored stays.
  async die() {
    for (const socket of this.sockets) socket.destroy();
    this.waiting = [];
    this.commands = [];
    if (this.server?.listening) {
      await new Promise((resolve) => this.server.close(resolve));
    }
  }

  // A new process on the same port. It keeps the events but not who is there.
  async comeBack() {
    this.isKnown = false;
    await this.listen(this.port);
  }

  command(command) {
    this.commands.push({ seq: this.commands.length + 1, ...command });
    for (const { request, response } of this.waiting.splice(0)) this.poll(request, response);
  }

  ofType(type) {
    return this.events.filter((event) => event.type === type);
  }

  reply(response, status, body) {
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    const text = body === undefined ? '' : JSON.stringify(body);
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  }

  handle(request, response) {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => this.route(request, response, Buffer.concat(chunks).toString()));
    request.on('error', () => {});
  }

  route(request, response, body) {
    this.requests.push(`${request.method} ${request.url}`);
    this.headers.push(request.headers);
    const scripted = this.answer?.(request, body);
    if (scripted) return this.reply(response, scripted.status, scripted.body);
    if (request.method === 'POST' && request.url === '/api/v1/agents') {
      return this.register(response, JSON.parse(body));
    }
    if (!this.isKnown) return this.reply(response, 404, { detail: 'unknown agent' });
    if (request.url.startsWith('/api/v1/agents/a-1/commands')) return this.poll(request, response);
    if (request.url === '/api/v1/agents/a-1/events') return this.store(response, body);
    if (request.url === '/api/v1/agents/a-1/leave') {
      setTimeout(() => {
        this.leaves.push([JSON.parse(body).reason, this.events.length]);
        this.reply(response, 204);
      }, this.leaveAfterMs);
      return undefined;
    }
    if (request.method === 'DELETE') {
      this.hasLeft = true;
      this.isKnown = false;
      return this.reply(response, 204);
    }
    return this.reply(response, 404, { detail: `no ${request.url}` });
  }

  register(response, body) {
    this.registrations.push(body);
    const isSame = this.bootId === body.boot_id;
    if (!isSame) this.acked = 0;
    this.bootId = body.boot_id;
    this.isKnown = true;
    this.commands = [];
    const { lease_s, poll_s } = this.options;
    this.reply(response, isSame ? 200 : 201, { agent: 'a-1', lease_s, poll_s, acked: this.acked });
  }

  poll(request, response) {
    const after = Number(new URL(request.url, 'http://x').searchParams.get('after'));
    const commands = this.commands.filter((command) => command.seq > after);
    if (commands.length > 0) return this.reply(response, 200, { commands });
    const entry = { request, response };
    this.waiting.push(entry);
    const timer = setTimeout(() => {
      const index = this.waiting.indexOf(entry);
      if (index < 0) return;
      this.waiting.splice(index, 1);
      this.reply(response, 204);
    }, this.options.poll_s * 1000);
    timer.unref();
    response.once('close', () => {
      clearTimeout(timer);
      this.waiting = this.waiting.filter((other) => other !== entry);
    });
    return undefined;
  }

  store(response, body) {
    const events = body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const refused = this.refuse && events.map((event) => this.refuse(event)).find(Boolean);
    if (refused) return this.reply(response, 422, { detail: refused });
    for (const event of events) {
      if (event.seq === undefined) {
        this.progress.push(event);
      } else if (event.seq > this.acked + 1) {
        return this.reply(response, 409, { detail: 'a gap', acked: this.acked });
      } else if (event.seq === this.acked + 1) {
        this.acked = event.seq;
        this.events.push(event);
      }
    }
    return this.reply(response, 200, { acked: this.acked });
  }
}
