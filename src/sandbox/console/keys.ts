import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { shellLine } from '../../platform/shell.ts';
import type { SandboxConfig } from '../config.ts';
import { exampleOrder, mintByForm } from '../keys/keys.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { lastMs } from '../store/clock.ts';
import type { StoredRow } from '../store/store.ts';
import { formAction, Misfilled, onceField, onceIn } from './form-action.ts';
import { type Column, listPage, type Part, plainHead, userKey, windowOf } from './lists.ts';
import { consolePage, type Page } from './page.ts';
import { age, copied, money } from './parts.ts';
import { keysPath, walletPath } from './sections.ts';
import { curlCall, sameFromTerminal } from './terminal-commands.ts';

/** Keys, each with the wallet that it spends from. Excludes keys that can only read one order. */
export function readKeys({ store }: Service, part: Part): StoredRow[] {
  const { where, order, values } = windowOf(part, { from: keysWithWallets, seq: 'k.rowid' });
  return store.all(
    `SELECT k.rowid AS seq, k.name, k.claimed_by, k.created_at, k.used_at, u.id, u.email, u.order_count, w.balance, w.reserved
     FROM ${keysWithWallets} WHERE k.order_id IS NULL AND ${where} ORDER BY ${order} LIMIT ?`,
    ...values,
    part.limit,
  );
}

const keysWithWallets = 'api_keys k JOIN users u ON u.id = k.user_id JOIN wallets w ON w.user_id = u.id';

const columns: readonly Column[] = [
  { name: 'Key', by: "lower(coalesce(k.name, ''))" },
  { name: 'Owner', by: userKey('k.user_id') },
  { name: 'Wallet', look: 'fit number', by: 'w.balance' },
  { name: 'Reserved', look: 'fit number', by: 'w.reserved' },
  { name: 'Orders', look: 'fit number', by: 'u.order_count' },
  { name: 'Minted', look: 'fit', by: 'k.rowid', isAge: true },
  { name: 'Last used', look: 'fit', by: 'k.used_at' },
];

/** Renders the keys, identified by owner because the key itself is not stored. @param now ms since the epoch. */
export const keysTable = (
  { config }: Service,
  rows: readonly StoredRow[],
  now: number,
  head = plainHead(columns),
): Content =>
  rows.length === 0
    ? html`<p class="soft">No key yet.</p>${mintForm(config)}`
    : html`<table class="stack">${head}<tbody>${rows.map(
        (
          row,
        ) => html`<tr id="key-${Number(row.seq)}"><td><span class="mono">${config.prefix}_test_…</span>${text(row.name)}</td>
<td>${text(row.email)} <a class="mono" href="${walletPath(String(row.id))}" aria-label="Wallet of ${String(row.id).slice(0, 8)}">${String(row.id).slice(0, 8)}</a>${
          row.claimed_by !== null && html` <small>claimed by ${String(row.claimed_by)}</small>`
        }</td><td class="fit number" data-label="wallet">${money(Number(row.balance))}</td><td class="fit number" data-label="reserved">${money(Number(row.reserved))}</td>
<td class="fit number" data-label="orders">${Number(row.order_count)}</td><td class="fit" data-label="minted">${age(Number(row.created_at), now)}</td><td class="fit" data-label="last used">${row.used_at === lastMs ? 'does not expire' : age(Number(row.used_at), now)}</td></tr>`,
      )}</tbody></table>`;

const text = (value: unknown): Content => typeof value === 'string' && html` ${value}`;

export const keysPage: Page<'consoleKeys'> = ({ service, search }) =>
  listPage({
    section: 'keys',
    title: 'Keys and wallets',
    lead: 'Only a hash of each key is kept: a key is shown once, when it is minted.',
    search,
    filters: {},
    columns,
    read: (part) => readKeys(service, part),
    numberOf: ({ seq }) => Number(seq),
    csv: {
      name: ({ name }) => (typeof name === 'string' ? name : null),
      owner: ({ email, id }) => String(email ?? id),
      claimed_by: ({ claimed_by }) => (typeof claimed_by === 'string' ? claimed_by : null),
      balance_cents: ({ balance }) => Number(balance),
      reserved_cents: ({ reserved }) => Number(reserved),
      orders: ({ order_count }) => Number(order_count),
      minted_at: ({ created_at }) => new Date(Number(created_at)),
      last_used_at: ({ used_at }) => (used_at === lastMs ? null : new Date(Number(used_at))),
    },
    table: (rows, head) =>
      html`${rows.length > 0 && mintForm(service.config)}${keysTable(service, rows, service.clock.now(), head)}`,
  });

const maxNameLength = 100;

/** Renders the form that mints a key, and the equivalent commands. */
export const mintForm = (config: SandboxConfig): Content =>
  html`<form method="post" action="${keysPath}" class="inline" id="mint">${onceField()}
<label>Name, if you like<input name="name" maxlength="${maxNameLength}" autocomplete="off"></label><button class="main">Mint a key</button></form>
${sameFromTerminal(config, 'same-mint', [
  {
    what: 'minting a key',
    errand: ['sandbox', 'mint'],
    curl: shellLine`curl -sX POST ${config.baseUrl + operations['sandbox.mint'].path}`,
  },
])}`;

/** The only page that shows a key. It is the response to a form, so no URL leads to it. */
export const mintKeyPage = formAction<'consoleMint'>(
  () => ({ path: keysPath, text: 'Back to the keys' }),
  async ({ service, request }, form) => {
    const once = onceIn(form);
    const name = (form.get('name') ?? '').trim();
    if (name.length > maxNameLength) throw new Misfilled(`Name takes at most ${maxNameLength} characters.`);
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
