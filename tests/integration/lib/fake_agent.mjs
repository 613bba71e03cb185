// SPDX-License-Identifier: Apache-2.0
// fake_agent.mjs - an agent's side of the agent protocol, to be told what to say
import { randomUUID } from 'node:crypto';

const host = { available: true, collectives: ['all_reduce'], dtypes: ['float32'], redops: ['sum'] };

export class FakeAgent {
  constructor(server, name, options = {}) {
    this.server = server;
    this.name = name;
    this.bootId = randomUUID();
    /** @type {Record<string, string>} */
    this.headers = { 'Ringbench-Agent-Key': randomUUID() };
    this.options = options; // members of the registration
    this.seq = 0;
    this.after = 0;
  }

  call(method, rest = '', body = undefined, headers = this.headers) {
    const options = { body, headers };
    return this.server.request(method, `/api/v1/agents/${this.id}${rest}`, options);
  }

  async register(options = {}) {
    const answer = await this.server.request('POST', '/api/v1/agents', {
      headers: this.headers,
      body: JSON.stringify({
        name: this.name,
        boot_id: this.bootId,
        ranks: 1,
        inventory: { backends: { host } },
        cases: [],
        ...this.options,
        ...options,
      }),
    });
    if (answer.status < 300) {
      this.id = answer.json.agent;
      this.seq = answer.json.acked;
      this.after = 0;
    }
    return answer;
  }

  // Wait for the next command of a type.
  async command(type) {
    for (;;) {
      const answer = await this.call('GET', `/commands?after=${this.after}`);
      for (const command of answer.json?.commands ?? []) {
        this.after = command.seq;
        if (command.type === type) return command;
      }
    }
  }

  // Post events of a command's case, numbered unless they are progress.
  async say(command, ...events) {
    const { run, case: number, attempt } = command;
    let { seq } = this;
    const lines = events.map((event) =>
      JSON.stringify({
        ...(event.type === 'progress' ? {} : { seq: ++seq }),
        run,
        case: number,
        attempt,
        time_ms: Date.now(),
        ...event,
      }),
    );
    const answer = await this.call('POST', '/events', `${lines.join('\n')}\n`);
    if (answer.status === 200) this.seq = seq;
    return answer;
  }
}
