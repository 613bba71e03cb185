/* missing.mjs - an address that no view has */
import { h } from '../dom.mjs';

export default function view(root, app) {
  app.title('Not found');
  root.append(
    h('h1', 'Nothing is at this address'),
    h('p', h('a', { href: '/' }, 'All runs'), ' or ', h('a', { href: '/nodes' }, 'all nodes'), '.'),
  );
  return {};
}
