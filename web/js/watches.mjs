/* SPDX-License-Identifier: Apache-2.0 */
/* watches.mjs - collects the recent nights of a watch, and the last level of each node. No DOM. */
import { dayOf } from './nights.mjs';
import { formatBandwidth, formatTime } from './units.mjs';
import { unrealOf } from './where.mjs';

export const NIGHTS = 30;

/* Words for the answers of a watch (docs/reference/watches.md). Every other answer names something
 * that was slower twice. */
const WORDS = { pass: 'pass', fail: 'fail', not_evaluated: 'not evaluated' };
const LOOKS = {
  pass: ['✓', 'good'],
  slow: ['▼', 'bad'],
  fail: ['✕', 'bad'],
  missed: ['↷', 'warn'],
  'not evaluated': ['?', 'calm'],
};
const lookOf = (word) => ({ word, sign: LOOKS[word][0], tone: LOOKS[word][1] });

/* {word, sign, tone, sentence, address, begun} of a night. `address` is null if nothing ran. */
function nightOf(id, { begun, ended, verdict: { answer, sentence, evidence } }) {
  const { named, measured, runs } = evidence;
  const isMissed = answer === 'not_evaluated' && measured === 0;
  const word = isMissed ? 'missed' : (WORDS[answer] ?? 'slow');
  const run = named[0]?.run ?? (runs.length === 1 ? runs[0] : null);
  const address = run ? `/runs/${run}` : runs.length > 0 ? runsAddress(id, begun, ended) : null;
  return { ...lookOf(word), sentence, address, begun };
}

const SKIPPED = {
  ...lookOf('missed'),
  sentence: 'The server was down, or the previous measurement had not ended.',
  address: null,
  begun: null,
};

/** Returns the latest nights, oldest first. A skipped due time counts as a night.
 * @param {Pick<Schema.Watch, 'id' | 'sweeps'>} watch */
export function nightsOf({ id, sweeps }) {
  const nights = [...sweeps].reverse().flatMap((/** @type {any} */ sweep) => {
    const skipped = Math.min(sweep.verdict.evidence.skipped, NIGHTS);
    return [...Array(skipped).fill(SKIPPED), nightOf(id, sweep)];
  });
  return nights.slice(-NIGHTS);
}

/** Address of the list of a watch's runs, between two times or all of them. */
export function runsAddress(id, since = null, until = null) {
  const params = new URLSearchParams({ label: `watch=${id}` });
  if (since) {
    params.set('since', dayOf(since));
    params.set('until', dayOf(until));
  }
  return `/?${params}`;
}

/** Returns all watches with their nodes and stale nodes. `known`: watches read before, by ID; a
 * watch is read again when a run of it has ended or its number of stale nodes changed. A watch
 * that was deleted meanwhile is left out.
 * @param {{ watches(): Promise<Schema.WatchList>, watch(id: string): Promise<Schema.Watch> }} api
 * @param {Map<string, Schema.Watch>} known */
export async function readWatches(api, known) {
  const { watches } = await api.watches();
  const stampOf = ({ counts, coverage }) => `${counts.runs} ${coverage.stale}`;
  const read = async (listed) => {
    const before = known.get(listed.id);
    if (!before || stampOf(before) !== stampOf(listed)) {
      known.set(listed.id, await api.watch(listed.id));
    }
    return { ...known.get(listed.id), ...listed };
  };
  const whole = watches.map((watch) =>
    read(watch).catch((error) => (error.status === 404 ? null : Promise.reject(error))),
  );
  return (await Promise.all(whole)).filter((watch) => watch !== null);
}

/** Returns the latest level of each node that a watch has measured, by name. `unreal` marks a
 * simulated node.
 * @param {Schema.WatchList['watches']} watches */
export function levelsOf(watches) {
  const found = new Map();
  for (const { nodes = [], spec } of watches) {
    for (const node of nodes.filter(({ level }) => level != null)) {
      if (!(found.get(node.name)?.level_measured > (node.level_measured ?? ''))) {
        found.set(node.name, { ...node, unreal: unrealOf(/** @type {any} */ (spec)) });
      }
    }
  }
  return found;
}

/** {text, usual, isSlower}: a node's level, and the range expected of an unchanged node. */
export function levelInWords({ figure, level, low, high }) {
  const isTime = figure === 'time_us';
  const format = isTime ? formatTime : formatBandwidth;
  const isKnown = low != null && high != null;
  return {
    text: isTime ? formatTime(level) : `${formatBandwidth(level)} GB/s`,
    usual: isKnown ? `usual ${format(low)} to ${format(high)}` : 'usual range not known yet',
    isSlower: isKnown && (isTime ? level > high : level < low),
  };
}
