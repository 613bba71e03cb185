/* SPDX-License-Identifier: Apache-2.0 */
/* units.mjs - formats sizes, bandwidths, times and durations. No DOM. */

const SUFFIXES = ['', 'K', 'M', 'G', 'T'];

/* Size ranges of the bands that the server judges (docs/explanation/method.md). */
export const BANDS = {
  latency: 'up to 16K',
  middle: 'between 16K and 4M',
  bandwidth: 'from 4M up',
};

/* "8", "64K", "1.5M" or "128MiB" in bytes, or null. K, M, G and T are powers of 1024. */
export function parseSize(text) {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*$/i.exec(String(text));
  if (!match) {
    return null;
  }
  const bytes = Number(match[1]) * 1024 ** SUFFIXES.indexOf(match[2].toUpperCase());
  return Number.isInteger(bytes) ? bytes : null;
}

/* Returns the shortest exact form: 65536 is "64K", 100 is "100". */
export function formatSize(bytes) {
  let value = bytes;
  let suffix = 0;
  while (value >= 1024 && value % 1024 === 0 && suffix < SUFFIXES.length - 1) {
    value /= 1024;
    suffix += 1;
  }
  return `${value}${SUFFIXES[suffix]}`;
}

/* Formats memory with three digits: "1.5 GiB", "8 B". */
export function formatMemory(bytes) {
  let value = bytes;
  let suffix = 0;
  while (value >= 1024 && suffix < SUFFIXES.length - 1) {
    value /= 1024;
    suffix += 1;
  }
  return suffix === 0 ? `${value} B` : `${significant(value)} ${SUFFIXES[suffix]}iB`;
}

/* Formats three significant digits, never with an exponent. */
export function significant(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  const magnitude = Math.abs(value);
  if (magnitude === 0) {
    return '0';
  }
  if (magnitude >= 100) {
    return String(Math.round(value));
  }
  const digits = Math.min(8, 2 - Math.floor(Math.log10(magnitude)));
  return value.toFixed(digits);
}

export const formatBandwidth = (gbs) => (gbs == null ? '–' : significant(gbs));

/* Formats microseconds for a table cell, always in µs so that a column is comparable. */
export function formatMicros(us) {
  if (!Number.isFinite(us)) {
    return '–';
  }
  if (us >= 1000) {
    return String(Math.round(us));
  }
  return us >= 100 ? us.toFixed(1) : us.toFixed(2);
}

/* The Swedish date format is ISO 8601. Formatters are reused, because creating one is slow. */
const DAY = new Intl.DateTimeFormat('sv');
const CLOCK = new Intl.DateTimeFormat([], { timeStyle: 'medium', hourCycle: 'h23' });
const ZONED = new Intl.DateTimeFormat([], { timeZoneName: 'short' });

/* "2026-01-31", "23:05:00" and "GMT+1", in the browser's time zone. */
export const formatDay = (time) => DAY.format(time);
export const formatClock = (time) => CLOCK.format(time);
export const zoneOf = (time) =>
  ZONED.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/* Returns "2026-01-31 23:05:00 GMT+1". */
export function timeInWords(text) {
  const time = new Date(text);
  return `${formatDay(time)} ${formatClock(time)} ${zoneOf(time)}`;
}

/* "Europe/Berlin", for the headings of time columns. */
export const TIME_ZONE = DAY.resolvedOptions().timeZone;

/* Formats a fraction as a percentage: 0.021 is "2.1 %". */
export function formatPercent(part) {
  const percent = part * 100;
  return percent >= 10 ? `${Math.round(percent)} %` : `${percent < 0.1 ? '<0.1' : percent.toFixed(1)} %`;
}

/* Changes from this fraction on are shown as a ratio. */
const RATIO_MIN = 9;

/* Formats a relative change: 0.041 is "+4.1 %", 189 is "190x". */
export function formatChange(part) {
  if (!Number.isFinite(part)) {
    return '–';
  }
  if (part >= RATIO_MIN) {
    return `${significant(1 + part)}x`;
  }
  const percent = Math.abs(part * 100);
  const digits = percent < 9.95 ? 1 : 0;
  const sign = percent < 0.05 ? '' : part < 0 ? '−' : '+';
  return `${sign}${percent.toFixed(digits)} %`;
}

/* Formats microseconds in the unit that fits. */
export function formatTime(us) {
  if (!Number.isFinite(us)) {
    return '–';
  }
  if (us < 1000) {
    return `${significant(us)} µs`;
  }
  return us < 1e6 ? `${significant(us / 1e3)} ms` : `${significant(us / 1e6)} s`;
}

/* Formats seconds as "40 ms", "1.4 s", "12 s", "3 min 20 s" or "2 h 5 min". */
export function formatDuration(seconds) {
  if (!Number.isFinite(seconds)) {
    return '–';
  }
  const s = Math.max(0, seconds);
  if (s < 0.9995) {
    return `${Math.round(s * 1000)} ms`;
  }
  if (s < 10) {
    return `${s.toFixed(1)} s`;
  }
  const whole = Math.round(s);
  if (whole < 60) {
    return `${whole} s`;
  }
  if (whole < 3600) {
    return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/* Formats an age in coarse steps, so that it does not need a redraw each second. */
export function formatAgo(seconds) {
  /** @type {[number, string][]} */
  const units = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [5, 's'],
  ];
  const [unit, word] = units.find(([length]) => seconds >= length) ?? [1, ''];
  const count = Math.floor(seconds / unit) * (word === 's' ? unit : 1);
  return word ? `${count} ${word} ago` : 'just now';
}

/* Seconds between two RFC 3339 times, or null if one is missing. */
export function secondsBetween(from, to) {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return Number.isFinite(seconds) ? seconds : null;
}

export function plural(count, word, several = `${word}s`) {
  return `${count} ${count === 1 ? word : several}`;
}

/* Formats sorted numbers: "0–3", "0, 2 … 14", "0, 1, 5". */
export function listInWords(numbers) {
  const [first, second] = numbers;
  const last = numbers[numbers.length - 1];
  const isEven = numbers.every((n, i) => n === first + i * (second - first));
  if (numbers.length > 2 && isEven && second === first + 1) {
    return `${first}–${last}`;
  }
  if (numbers.length > 4 && isEven) {
    return `${first}, ${second} … ${last}`;
  }
  const more = numbers.length - 8;
  return numbers.slice(0, 8).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/* Shorten a long text in the middle. */
export function shorten(text, limit) {
  if (text.length <= limit) {
    return text;
  }
  const head = Math.ceil((limit - 1) * 0.7);
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}
