/* token_dialog.mjs - ask for the bearer token that the server wants */
import {h} from './dom.mjs';

/* Resolves to the token, or null when the person went on without. `refused`: the one that
 * was sent is not accepted. */
export function askToken(refused) {
  return new Promise(resolve => {
    const input =
      h('input', {id: 'token', type: 'password', autocomplete: 'off', required: true});
    const dialog = h('dialog', {'aria-labelledby': 'token-title'},
      h('form', {method: 'dialog'},
        h('h2', {id: 'token-title'}, 'This server asks for a token'),
        refused ? h('p', {class: 'field-error'}, 'The token was not accepted.') : null,
        h('p', {}, 'It stands in the file given to the server with ',
          h('code', {}, '--token-file'), '. This tab keeps it until it is closed.'),
        h('label', {'for': 'token'}, 'Token'), input,
        h('div', {class: 'actions'},
          h('button', {value: 'use', class: 'primary'}, 'Use it'))));
    dialog.addEventListener('cancel', event => event.preventDefault());
    dialog.addEventListener('close', () => {
      resolve(input.value.trim());
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
