/* later_part.mjs - a piece of a view whose module comes when it is first shown */
import { h, setHidden } from './dom.mjs';

/* `make(views)` is called once it is first shown; update() is as what that makes has it. */
export function laterPart(app, make) {
  const element = h('div');
  let part = null;
  let latest = null;
  return {
    element,
    update(...values) {
      if (latest === null) {
        app.later().then(
          (views) => {
            part = make(views);
            element.append(part.element);
            part.update?.(...latest);
          },
          () => element.append('This could not be loaded. Reload the page.'),
        );
      }
      latest = values;
      part?.update?.(...values);
    },
    show: (is) => setHidden(element, !is),
    destroy: () => part?.destroy?.(),
  };
}
