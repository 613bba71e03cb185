/* row_detail.mjs - all that is known of one size: repeats, ranks, wrong elements */
import { caseName } from '../case_name.mjs';
import { h, region } from '../dom.mjs';
import { head } from '../parts.mjs';
import { isWithinFactor, median, placement, wayOf } from '../stats.mjs';
import { formatBandwidth, formatTime, plural, shorten } from '../units.mjs';

const RANKS_SHOWN = 256;
const BLOCKS_SHOWN = 40;

export class RowDetail {
  /* `cases` are the run's, by number. */
  constructor(api, id, entry, cases) {
    this.api = api;
    this.id = id;
    this.cases = cases;
    this.loaded = [];
    this.element = h('div.row-detail');
    this.entry = entry;
    this.isLoading = false;
    this.load();
  }

  update(entry) {
    const isNew = entry.out !== this.entry.out || entry.in !== this.entry.in;
    const rows = repeatsOf(this.entry);
    this.entry = entry;
    if (isNew && repeatsOf(entry) !== rows) {
      this.load();
    }
  }

  /* "in place, NCCL_ALGO=Ring, repeat 2, cycle 1" */
  nameOf(row) {
    const found = this.cases.size > 1 ? this.cases.get(row.case) : null;
    const cycle = row.cycle ?? null;
    return [placement(row), found && caseName(found), cycle !== null && `cycle ${cycle + 1}`]
      .filter(Boolean)
      .join(', ');
  }

  /* i: "rank 5 on node-2", of the row's times. */
  rankNames(row) {
    const ranks = this.cases.get(row.case)?.ranks;
    return (i) => {
      const rank = this.entry.members?.[i] ?? i;
      const node = ranks?.get(rank)?.node;
      return `rank ${rank}${node ? ` on ${shorten(node, 40)}` : ''}`;
    };
  }

  /* The rows behind the entry are asked for when somebody looks. */
  async load() {
    if (this.isLoading) {
      return;
    }
    this.isLoading = true;
    const asked = [...new Set(Object.values(this.entry.series))];
    try {
      const found = [];
      for (const series of asked) {
        const query = new URLSearchParams({ series, size: this.entry.size, limit: BLOCKS_SHOWN, samples: 1 });
        found.push(...(await this.api.rows(this.id, query)).rows);
      }
      this.loaded = found;
      this.draw();
    } catch (error) {
      this.element.replaceChildren(h('p.bad', error.message));
    }
    this.isLoading = false;
  }

  draw() {
    const rows = this.loaded;
    const left = repeatsOf(this.entry) - Math.min(rows.length, BLOCKS_SHOWN * 2);
    this.element.replaceChildren(
      ...rows.slice(0, BLOCKS_SHOWN * 2).map((row) => rowBlock(row, this.nameOf(row), this.rankNames(row))),
      left > 0 ? h('p.muted', `and ${left} more: the run’s CSV has all`) : '',
    );
  }
}

const repeatsOf = (entry) => (entry.out?.repeats ?? 0) + (entry.in?.repeats ?? 0);

function rowBlock(row, place, nameOf) {
  if (row.skipped !== undefined) {
    return h('section', h('h3', place), h('p', `Skipped: ${row.skipped}`));
  }
  return h(
    'section',
    h('h3', place),
    h(
      'dl.facts',
      facts(row).flatMap(([name, value]) => [h('dt', name), h('dd', value)]),
    ),
    rankBars(row.times_us ?? [], nameOf, place),
    samples(row.samples_us),
    wrongList(row),
  );
}

function facts(row) {
  return [
    [
      row.blocks === undefined
        ? 'time, mean over ranks'
        : `time, median of ${row.blocks} blocks of ${Math.round(row.iters / row.blocks)} calls`,
      (row.noisy ? '~' : '') + formatTime(row.time_us),
    ],
    [
      '95 % interval of the median',
      row.time_low_us === undefined
        ? null
        : isWithinFactor(row.time_low_us, row.time_high_us)
          ? `${formatTime(row.time_low_us)} to ${formatTime(row.time_high_us)}`
          : 'unknown',
    ],
    [
      '5 to 95 % of the blocks',
      row.time_p5_us === undefined ? null : `${formatTime(row.time_p5_us)} to ${formatTime(row.time_p95_us)}`,
    ],
    [
      'fastest to slowest rank',
      row.time_min_us === undefined
        ? null
        : `${formatTime(row.time_min_us)} to ${formatTime(row.time_max_us)}`,
    ],
    ['first call', row.first_us === undefined ? null : formatTime(row.first_us)],
    ['busbw', `${formatBandwidth(row.busbw_gbs)} GB/s`],
    ['algbw', `${formatBandwidth(row.algbw_gbs)} GB/s`],
    ['enqueueing a call', row.enqueue_us === undefined ? null : formatTime(row.enqueue_us)],
    ['algorithm, protocol', wayOf(row.nccl) || null],
    ['channels', row.nccl?.channels ? String(row.nccl.channels) : null],
    ['timed calls', row.iters === undefined ? null : String(row.iters)],
    ['wrong elements', row.wrong === null ? 'not checked' : String(row.wrong)],
  ].filter(([, value]) => value !== null);
}

/* "64 ranks: 12 µs (rank 3 on node-1), median 12.5 µs, 14 µs (rank 37 on node-5)" */
function ranksInWords(times, nameOf) {
  const at = (find) => {
    const i = times.reduce((best, time, k) => (find(time, times[best]) ? k : best), 0);
    return `${formatTime(times[i])} (${nameOf(i)})`;
  };
  return (
    `${plural(times.length, 'rank')}: least ${at((a, b) => a < b)}, ` +
    `median ${formatTime(median(times))}, most ${at((a, b) => a > b)}`
  );
}

function rankBars(times, nameOf, place) {
  if (times.length === 0) {
    return null;
  }
  const top = Math.max(...times);
  const bars = times
    .slice(0, RANKS_SHOWN)
    .map((time, i) =>
      h(
        'li',
        h('span.muted', { title: nameOf(i) }, nameOf(i).split(' on ')[0]),
        h('span.bar', { vars: { '--share': String(time / top) } }),
        h('span.number', formatTime(time)),
      ),
    );
  return [
    times.length > 1 ? h('p', ranksInWords(times, nameOf)) : null,
    region(`Time per rank, ${place}`, 'rank-bars', h('ul', bars)),
  ];
}

function samples(times) {
  if (!times?.length) {
    return null;
  }
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => formatTime(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return h(
    'p',
    `${times.length} calls timed each by itself: median ${at(0.5)}, ` +
      `90 % within ${at(0.9)}, slowest ${formatTime(sorted[sorted.length - 1])}.`,
  );
}

function wrongList(row) {
  if (!row.errors?.length) {
    return null;
  }
  return h(
    'table.wrong-list',
    h('caption', `The first ${row.errors.length} of ${row.wrong} wrong elements`),
    head(['rank', 'index', 'expected', 'got']),
    h(
      'tbody',
      row.errors.map((error) =>
        h(
          'tr',
          ['rank', 'index', 'expected', 'got'].map((key) =>
            h('td', { class: key === 'got' ? 'bad' : null }, String(error[key])),
          ),
        ),
      ),
    ),
  );
}
