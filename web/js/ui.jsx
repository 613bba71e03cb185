/* ui.jsx - what views draw with: preact, which writes text as text, never as markup */
import { options, render } from 'preact';
import { seen } from './dom.mjs';

/* Invisible characters are written out, wherever a view puts a text. */
const before = options.vnode;
options.vnode = (vnode) => {
  if (vnode.type === null) {
    vnode.props = seen(vnode.props);
  } else if (typeof vnode.type === 'string') {
    for (const name of ['title', 'aria-label']) {
      if (typeof vnode.props[name] === 'string') {
        vnode.props[name] = seen(vnode.props[name]);
      }
    }
  }
  before?.(vnode);
};

/* A component as a view of main.mjs: {update, destroy}. Its props are the app, the route's id
 * and its query. */
export const asView = (Component) => (root, app, route) => {
  const draw = (query) => render(<Component app={app} id={route.id} query={query} />, root);
  draw(route.query);
  return { update: draw, destroy: () => render(null, root) };
};
