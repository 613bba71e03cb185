/* token_dialog.mjs - ask for the bearer token that the server wants */
import { h } from './dom.mjs';
import { ask } from './parts.mjs';

/* Resolves to the token. `refused`: the one that was sent is not accepted. */
export async function askToken(refused) {
  const input = h('input', { id: 'token', type: 'password', autocomplete: 'off', required: true });
  const content = [
    refused ? h('p.field-error', 'The token was not accepted.') : null,
    h(
      'p',
      'It stands in the file given to the server with ',
      h('code', '--token-file'),
      '. This tab keeps it until it is closed.',
    ),
    h('label', { for: 'token' }, 'Token'),
    input,
  ];
  const use = h('button.primary', { value: 'use' }, 'Use it');
  /* Escape ends a dialog too. */
  while ((await ask('This server asks for a token', content, use)) !== 'use') {}
  return input.value.trim();
}
