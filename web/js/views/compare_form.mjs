/* compare_form.mjs - what is to be compared: runs of two sides, and the variables that
 * choose among their cases */
import { debounce, h, setHidden } from '../dom.mjs';
import { combinationsOf } from '../matrix.mjs';
import { shorten } from '../units.mjs';

const OFFERED = 50;
const HINT = 'a run’s id, RUN:CASE, or several';

export function compareForm(app, submit) {
  const known = h('datalist', { id: 'known-runs' });
  const base = sideFields(app, 'Base', `${HINT}; or baseline`);
  const head = sideFields(app, 'Head', HINT);
  const read = () => ({
    base: base.runs(),
    base_env: base.env(),
    head: head.runs(),
    head_env: head.env(),
    last: null,
    like: '',
  });
  const swap = () => {
    const { base: left, base_env, head: right, head_env } = read();
    submit({ ...read(), base: right, base_env: head_env, head: left, head_env: base_env });
  };
  const form = h(
    'form.card.compare-form',
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          submit(read());
        },
      },
    },
    base.element,
    h('button.quiet', { title: 'Swap', on: { click: swap } }, '⇄ Swap'),
    head.element,
    h('button.primary', { value: 'go' }, 'Compare'),
    known,
  );
  offer(app, known);
  return {
    element: form,
    set(query) {
      base.set(query.base, query.base_env);
      head.set(query.head, query.head_env);
    },
    focus: () => form.querySelector('input').focus(),
  };
}

/* The last runs that have something to compare. */
async function offer(app, known) {
  try {
    const { runs } = await app.api.list(new URLSearchParams({ state: 'completed', limit: OFFERED }));
    known.replaceChildren(
      h('option', { value: 'baseline' }, 'the accepted baseline'),
      ...runs.map((run) => h('option', { value: run.id }, shorten(run.name || 'no name', 60))),
    );
  } catch {
    /* an id can be typed */
  }
}

function sideFields(app, title, hint) {
  const name = `compare-${title.toLowerCase()}`;
  const input = h('input', {
    id: name,
    type: 'text',
    list: 'known-runs',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: hint,
    on: {
      input: () => {
        env.replaceChildren();
        setHidden(env, true);
        later();
      },
    },
  });
  const later = debounce(() => input.value !== offered && offerCases([]), 200);
  let offered = '';
  const env = h('select', { 'aria-label': `${title}: which cases`, hidden: true });
  const runs = () => input.value.split(/[\s,]+/).filter(Boolean);

  /* The combinations of the run's matrix, with what the address chose in front. */
  async function offerCases(chosen) {
    const asked = input.value;
    offered = asked;
    const [id, ...others] = runs();
    const isRun = /^\w+$/.test(id ?? '') && id !== 'baseline' && others.length === 0;
    const found = isRun ? await matrixOf(app, id) : [];
    if (asked !== input.value) {
      return;
    }
    const value = JSON.stringify(chosen);
    const sets = [[], ...found.map((set) => JSON.stringify(set))];
    const isNew = chosen.length > 0 && !sets.includes(value);
    env.replaceChildren(
      h('option', { value: '[]' }, 'all cases'),
      ...[...(isNew ? [chosen] : []), ...found].map((set) =>
        h('option', { value: JSON.stringify(set) }, shorten(inWords(set), 120)),
      ),
    );
    env.value = value;
    setHidden(env, env.options.length < 2);
  }

  return {
    element: h('div.field', h('label', { for: name }, title), input, env),
    runs,
    env: () => JSON.parse(env.value || '[]'),
    set(ids, chosen) {
      input.value = ids.join(' ');
      env.replaceChildren(h('option', { value: JSON.stringify(chosen) }, inWords(chosen)));
      setHidden(env, chosen.length === 0);
      offerCases(chosen);
    },
  };
}

/* ["NAME=VALUE", "OTHER"] as people read it; what has no value is not set. */
const inWords = (set) =>
  set.map((one) => (one.includes('=') ? one : `${one} unset`)).join(' ') || 'all cases';

/* Each combination of a run's matrix, as parameters say it. */
async function matrixOf(app, id) {
  try {
    const { spec } = await app.api.run(id);
    return combinationsOf(spec);
  } catch {
    return [];
  }
}
