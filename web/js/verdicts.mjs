/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.mjs - the verdicts of a run (docs/reference/api.md, "Verdicts"). No DOM. */

/* What an answer looks like: a sign and a tone. */
export const ANSWERS = {
  better: '▲ good',
  worse: '▼ bad',
  same: '= good',
  mixed: '≠ warn',
  not_enough_data: '? warn',
  pass: '✓ good',
  fail: '✕ bad',
  not_evaluated: '? warn',
  ok: '✓ good',
  finding: '! warn',
  slow_node: '▼ bad',
  slow_link: '▼ bad',
  slow_rack: '▼ bad',
  slow_together: '▼ bad',
  late_rank: '▼ bad',
  lagging_rank: '▼ bad',
  no_rank: '? warn',
  none: '= good',
  projected: '≈ calm',
  estimated: '≈ calm',
  by_network: '= good',
  another_way: '↷ warn',
  differs: '≠ warn',
};

/* Answers that the run's page shows elsewhere than in a line. */
const ELSEWHERE = {
  transport: ['ok', 'not_enough_data'],
  ceiling: ['expected'],
};
const ALIKE_MAX = 16;

const isAlike = (a) => (b) => a.kind === b.kind && a.answer === b.answer;
const isNews = ({ kind, answer, quiet }) => !quiet && !ELSEWHERE[kind]?.includes(answer);
export const isBad = ({ answer }) => ANSWERS[answer]?.endsWith(' bad') ?? false;

/* The first of a kind in the list of a run, or null. */
export const verdictOf = ({ verdicts }, kind) => verdicts?.find((one) => one.kind === kind) ?? null;

/* Add verdicts to a list, each sentence once, as the server does. */
export function addVerdicts(list, more) {
  for (const one of more) {
    const alike = list.filter(isAlike(one));
    if (alike.length < ALIKE_MAX && !alike.some(({ sentence }) => sentence === one.sentence)) {
      list.push(one);
    }
  }
}

/* The lines of a list of verdicts: one for all that are alike, with the checks of each or
 * else its sentence. A verdict that the run's `reason` has in full gets none. */
export function verdictLines(verdicts, reason) {
  const isSaid = ({ sentence, evidence }) => reason?.includes(sentence) && !evidence?.checks;
  const news = verdicts.filter((one) => isNews(one) && !isSaid(one));
  return news
    .filter((one, i) => news.findIndex(isAlike(one)) === i)
    .map((first) => {
      const all = news.filter(isAlike(first));
      const checks = all.flatMap((one) =>
        all.length > 1 && !one.evidence?.checks
          ? [{ ...one, check: one.kind }]
          : (one.evidence?.checks ?? []),
      );
      return {
        answer: first.answer,
        sentence: first.sentence + (all.length > 1 ? `; ${all.length - 1} more` : ''),
        checks,
        ways: all.flatMap(({ evidence }) => evidence?.ways ?? []),
      };
    });
}

/* The verdict on a run in a list that somebody should see: the first one that is bad, or the
 * gate's if it did not pass. */
export function badVerdict(run) {
  const gate = verdictOf(run, 'gate');
  return run.verdicts?.find(isBad) ?? (gate && gate.answer !== 'pass' ? gate : null);
}
