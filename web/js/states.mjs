/* SPDX-License-Identifier: Apache-2.0 */
/* states.mjs - maps states of runs, nodes, jobs and watches to words and signs. No DOM. */

/* A sign and a tone for each state. States of runs come first. */
const STATES = {
  queued: '○ calm',
  launching: '◔ calm',
  waiting_for_nodes: '◔ calm',
  rendezvous: '◑ busy',
  running: '▶ busy',
  completed: '✓ good',
  failed: '✕ bad',
  cancelled: '⊘ warn',
  skipped: '↷ warn',
  idle: '○ good',
  busy: '▶ busy',
  starting: '◔ calm',
  pending: '◔ calm',
  stopping: '◔ warn',
  ended: '⊘ calm',
  lost: '✕ bad',
  left: '⊘ calm',
  waiting: '○ calm',
  measuring: '▶ busy',
  paused: '⊘ warn',
};

export const RUN_STATES = Object.keys(STATES).slice(0, Object.keys(STATES).indexOf('cancelled') + 1);

/* States of runs that have not ended. */
export const CURRENT = RUN_STATES.slice(0, RUN_STATES.indexOf('completed'));

/* "left" could be read as "remaining". */
const WORDS = { left: 'offline' };

export const stateWord = (state) => WORDS[state] ?? String(state).replaceAll('_', ' ');

export const stateLook = (state) => (STATES[state] ?? '· calm').split(' ');
