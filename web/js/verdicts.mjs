/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.mjs - finds and formats the verdicts of a run (docs/reference/api.md, "Verdicts"). No
 * DOM. */

/* A sign and a tone for each answer. */
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

/* Answers without a verdict line: other parts of the run's page show them. */
const ELSEWHERE = {
  transport: ['ok', 'not_enough_data'],
  ceiling: ['expected'],
};
const ALIKE_MAX = 16;

const isAlike = (a) => (b) => a.kind === b.kind && a.answer === b.answer;
const isNews = ({ kind, answer, quiet }) => !quiet && !ELSEWHERE[kind]?.includes(answer);
export const isBad = ({ answer }) => ANSWERS[answer]?.endsWith(' bad') ?? false;

/* Returns the first verdict of a kind, or null. */
export const verdictOf = ({ verdicts }, kind) => verdicts?.find((one) => one.kind === kind) ?? null;

/* Append verdicts, each sentence once, as the server does. */
export function addVerdicts(list, more) {
  for (const one of more) {
    const alike = list.filter(isAlike(one));
    if (alike.length < ALIKE_MAX && !alike.some(({ sentence }) => sentence === one.sentence)) {
      list.push(one);
    }
  }
}

/* Returns one line for each kind and answer, with the checks or sentences of all its verdicts. A
 * verdict that `reason` already contains gets no line. */
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

/* True if a run or its gate failed. */
export const isFailedRun = (run) => run.state === 'failed' || verdictOf(run, 'gate')?.answer === 'fail';

/* True if the last night needs attention because of this run. */
export const isBadRun = (run) => run.state === 'failed' || badVerdict(run) !== null;

/* Returns the verdict that a list shows for a run: the first bad one, or a gate that did not
 * pass. */
export function badVerdict(run) {
  const gate = verdictOf(run, 'gate');
  return run.verdicts?.find(isBad) ?? (gate && gate.answer !== 'pass' ? gate : null);
}
