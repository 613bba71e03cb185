/* scaling.mjs - a run over node counts: how a size's bandwidth and time went, what the
 * server makes of more nodes, and how far off that was where it could be seen */
import { colours } from '../chart.mjs';
import { chartPanels } from '../chart_panels.mjs';
import { h, setHidden, setText } from '../dom.mjs';
import { alertBox } from '../parts.mjs';
import { scalingPanels, sizeLabel } from '../scaling.mjs';
import { markOf } from '../shown.mjs';
import { onTheme, theme } from '../theme.mjs';
import { viewShare } from './run_share.mjs';

/* `change(set)` asks for another address state: its `nodes` are asked about, `of` is the
 * size that is shown. */
export default function scalingChart(app, id, change) {
  const choice = h('select', { id: 'scaling-size' });
  const nodes = h('input', {
    id: 'scaling-nodes',
    type: 'text',
    inputmode: 'numeric',
    pattern: '[1-9][0-9]{0,5}',
    required: true,
    size: '6',
  });
  const form = h(
    'form.controls',
    h('label', { for: choice.id }, 'Size'),
    choice,
    h('label', { for: nodes.id }, 'Project to nodes'),
    nodes,
    h('button', { value: '' }, 'Project'),
  );
  const charts = chartPanels({
    name: 'Measured and projected',
    onToggle(key) {
      hide = hide.includes(key) ? hide.filter((one) => one !== key) : [...hide, key];
      draw();
    },
  });
  const said = h('p', { role: 'status' });
  const failed = h('span');
  const alert = alertBox('bad', 'That did not work. ', failed);
  let shown = { runs: [], panels: [], spread: true };
  const share = viewShare(() => ({ ...shown, tone: { ...colours(), theme: theme() } }), app.later);
  const element = h(
    'section.card.chart-card',
    { 'aria-label': 'Scaling' },
    h('h2', 'Over node counts'),
    h('div.chart-top', form, share.element),
    alert,
    said,
    charts.element,
  );
  let hide = [];
  let asked = '';
  let answer = null;
  let latest = null;

  choice.addEventListener('change', () => change({ of: choice.value }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change({ nodes: Number(nodes.value) });
  });

  async function ask(count, sign) {
    asked = sign;
    try {
      const got = await app.api.projection(id, count);
      if (asked === sign) {
        answer = got;
        setHidden(alert, true);
        fillChoice(choice, answer.sizes);
        draw();
      }
    } catch (error) {
      setText(failed, error.message);
      setHidden(alert, false);
    }
  }

  function draw() {
    const { run, view } = latest;
    const found =
      answer?.sizes.find((size) => sizeLabel(size) === view.of) ??
      answer?.sizes.findLast(isProjected) ??
      answer?.sizes.at(-1);
    setText(said, found && view.of ? found.verdict.sentence : (answer?.verdict.sentence ?? ''));
    setHidden(charts.element, !found);
    if (found) {
      choice.value = sizeLabel(found);
      const panels = scalingPanels(found, answer.nodes, hide, theme());
      shown = { ...shown, runs: [{ ...run, verdicts: [answer.verdict] }], panels };
      charts.update(panels, { spread: true, mark: markOf([run]) });
    }
  }

  setHidden(alert, true);
  const stopTheme = onTheme(() => latest && draw());
  return {
    element,
    /* `run`: as runOnChart() makes it; `state`: whose completed cases the server knows. */
    update(run, state, view) {
      latest = { run, view };
      const done = [...state.cases.values()].filter(({ state: is }) => is === 'completed');
      const largest = Math.max(0, ...done.map((one) => one.nodes?.length ?? 0));
      const count = view.nodes ?? 2 * largest;
      const sign = `${done.length} ${count}`;
      setHidden(element, done.length === 0);
      if (document.activeElement !== nodes) {
        nodes.value = String(count);
      }
      if (done.length > 0 && sign !== asked) {
        ask(count, sign);
      } else if (answer) {
        draw();
      }
    },
    destroy() {
      stopTheme();
      share.destroy();
      charts.destroy();
    },
  };
}

const isProjected = ({ verdict }) => verdict.answer === 'projected';

function fillChoice(choice, sizes) {
  choice.replaceChildren(
    ...sizes.map((size) =>
      h(
        'option',
        { value: sizeLabel(size) },
        sizeLabel(size) + (isProjected(size) ? '' : ' (not projected)'),
      ),
    ),
  );
}
