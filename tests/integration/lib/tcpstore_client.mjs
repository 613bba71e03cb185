// SPDX-License-Identifier: Apache-2.0
// tcpstore_client.mjs - a client of TCPStore's protocol, version 2, written from the protocol
// and not from the server's code. Keys get the "/" in front that PyTorch's clients put there.
import net from 'node:net';

import { atEnd, patience } from './fixture.mjs';

const magic = 0x3c85f7ce;

const u32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const i64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
};

const blob = (value) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([i64(bytes.length), bytes]);
};

const wireKey = (key) => blob(`/${key}`);
const keyList = (keys) => [i64(keys.length), ...keys.map(wireKey)];

export class TcpStoreClient {
  constructor(t, port, host = '127.0.0.1') {
    this.chunks = Buffer.alloc(0);
    this.reader = null; // {length, resolve, reject}
    this.isOver = false;
    this.socket = net.connect(port, host);
    this.socket.setNoDelay(true);
    this.socket.on('data', (data) => {
      this.chunks = Buffer.concat([this.chunks, data]);
      this.deliver();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isOver = true;
      this.deliver();
    });
    atEnd(t, () => this.socket.destroy());
  }

  // A client that has been greeted.
  static async connect(t, port, host) {
    const client = new TcpStoreClient(t, port, host);
    client.send(0, u32(magic));
    client.send(13, u32(process.pid));
    const nonce = (await client.read(4)).readUInt32LE();
    if (nonce !== process.pid) throw new Error(`greeted with ${nonce}`);
    return client;
  }

  send(query, ...parts) {
    this.socket.write(Buffer.concat([Buffer.from([query]), ...parts]));
  }

  deliver() {
    if (!this.reader) return;
    const { length, resolve, reject, timer } = this.reader;
    if (this.chunks.length < length && !this.isOver) return;
    this.reader = null;
    clearTimeout(timer);
    if (this.chunks.length < length) {
      reject(new Error('the server closed the connection'));
      return;
    }
    resolve(this.chunks.subarray(0, length));
    this.chunks = this.chunks.subarray(length);
  }

  read(length) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer')), 20000 * patience);
      this.reader = { length, resolve, reject, timer };
      this.deliver();
    });
  }

  async readByte() {
    return (await this.read(1))[0];
  }

  async readNumber() {
    return Number((await this.read(8)).readBigInt64LE());
  }

  async readBlob() {
    const length = await this.readNumber();
    return length ? (await this.read(length)).toString('latin1') : '';
  }

  // Wait until the server has done all that was asked.
  async settle() {
    this.send(13, u32(7));
    await this.read(4);
  }

  set(key, value) {
    this.send(1, wireKey(key), blob(value));
    return this.settle();
  }

  compareSet(key, expected, desired) {
    this.send(2, wireKey(key), blob(expected), blob(desired));
    return this.readBlob();
  }

  async get(key) {
    await this.wait([key]);
    this.send(3, wireKey(key));
    return this.readBlob();
  }

  add(key, delta) {
    this.send(4, wireKey(key), i64(delta));
    return this.readNumber();
  }

  async check(keys) {
    this.send(5, ...keyList(keys));
    return (await this.readByte()) === 0;
  }

  // Whether there is a key that PyTorch's clients could not have made.
  async hasWireKey(key) {
    this.send(5, i64(1), blob(key));
    return (await this.readByte()) === 0;
  }

  // Ask to be told when the keys are there; waited() tells.
  beginWait(keys) {
    this.send(6, ...keyList(keys));
  }

  async waited() {
    const byte = await this.readByte();
    if (byte !== 0) throw new Error(`a wait ended with ${byte}`);
  }

  wait(keys) {
    this.beginWait(keys);
    return this.waited();
  }

  numKeys() {
    this.send(7);
    return this.readNumber();
  }

  async deleteKey(key) {
    this.send(8, wireKey(key));
    return (await this.readNumber()) === 1;
  }

  async cancelWait() {
    this.send(12);
    let byte = await this.readByte();
    if (byte === 0) byte = await this.readByte();
    if (byte !== 1) throw new Error(`a wait was cancelled with ${byte}`);
  }

  async listKeys() {
    this.send(17);
    const keys = [];
    for (let n = await this.readNumber(); n > 0; n--) keys.push(await this.readBlob());
    return keys;
  }
}
