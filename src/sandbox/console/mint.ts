import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { SandboxConfig } from '../config.ts';
import { exampleOrder, mintByForm } from '../keys/keys.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { consolePage } from './console-page.ts';
import { keysPath, walletPath } from './console-paths.ts';
import { formAction, Misfilled, onceField, onceIn } from './form-action.ts';
import { copied } from './pages/copied.ts';
import { curlCall, sameFromTerminal } from './same-from-terminal.ts';

const longestName = 100;

/** A form that mints a key, and the commands that do. */
export const mintForm = (config: SandboxConfig): Content =>
  html`<form method="post" action="${keysPath}" class="inline" id="mint">${onceField()}
<label>Name, if you like<input name="name" maxlength="${longestName}" autocomplete="off"></label><button class="main">Mint a key</button></form>
${sameFromTerminal(config, 'same-mint', [
  {
    what: 'minting a key',
    errand: ['sandbox', 'mint'],
    curl: shellLine`curl -sX POST ${config.baseUrl + operations['sandbox.mint'].path}`,
  },
])}`;

/** The one page that shows a key: the response to its form, which no address leads to. */
export const mintKeyPage = formAction<'consoleMint'>(
  () => ({ path: keysPath, text: 'Back to the keys' }),
  async ({ service, request }, form) => {
    const once = onceIn(form);
    const name = (form.get('name') ?? '').trim();
    if (name.length > longestName) throw new Misfilled(`Name takes at most ${longestName} characters.`);
    const minted = await mintByForm(service, {
      id: once,
      name: name === '' ? null : name,
      from: request.remoteAddress,
      now: service.clock.now(),
    });
    return minted ? keyPage(service.config, minted) : shownBefore(service.config);
  },
);

function keyPage(
  config: SandboxConfig,
  { key, userId }: { readonly key: string; readonly userId: string },
): SandboxResponse {
  const { baseUrl } = config;
  const exports = shellLine`export ERRAND_BASE_URL=${baseUrl}\nexport ERRAND_API_KEY=${key}`;
  const first = curlCall(config, {
    method: 'POST',
    path: operations['order.create'].path,
    body: exampleOrder(config.shopUrl),
  });
  const body = html`<p class="lead">It is shown here and nowhere again: only its hash is kept.</p>
<section><header><h2>Key</h2></header>${copied('the key', key)}</section>
<section><header><h2>For a terminal</h2></header><p>With these two lines errand, and any program that reads them, works here.</p>${copied('the export lines', exports)}
<p>Then a first order:</p>${copied('the command of a first order', 'errand quickstart')}${copied('the curl call of a first order', first)}</section>
<p><a href="${walletPath(userId)}">Its wallet</a></p>`;
  return consolePage('A new key', body, { status: 201, section: 'keys', copies: true });
}

const shownBefore = (config: SandboxConfig): SandboxResponse =>
  consolePage(
    'Shown already',
    html`<p class="lead">This form has minted its key, and a key is shown once. Mint another.</p>${mintForm(config)}
<p><a href="${keysPath}">Back to the keys</a></p>`,
    { status: 409, section: 'keys', copies: true, narrow: true },
  );
