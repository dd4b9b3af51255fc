import { type Content, html } from '../../platform/html.ts';
import { claim } from '../keys/keys.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { StoredRow } from '../store/store.ts';
import { type EntryWithBalance, holdsOf, readLedger, totalsOf } from '../wallet/ledger.ts';
import { empty, fund, type LedgerKind, type Wallet, walletOf } from '../wallet/wallet.ts';
import {
  centsIn,
  emailIn,
  formAction,
  Misfilled,
  onceField,
  onceIn,
  seeOther,
  type WayBack,
} from './form-action.ts';
import { type Column, listPage, pagedTable, userKey, userNames, windowOf } from './lists.ts';
import { consolePage, notThere, type Page } from './page.ts';
import { age, dateTime, money } from './parts.ts';
import { keysPath, ordersPath, walletPath } from './sections.ts';
import { sameFromTerminal, triggerCall } from './terminal-commands.ts';

/** Display name of each ledger kind, in summation order. */
export const ledgerWords: Readonly<Record<LedgerKind, string>> = {
  opening: 'Opening balance',
  funding: 'Added',
  withdrawal: 'Taken out',
  payment: 'Paid by challenge',
  purchase: 'Charged',
  fee: 'Fee',
  refund: 'Refunded',
  credit: 'Credited for returns',
  reversal: 'Credit taken back',
  payout: 'Paid back to the payer',
};

/** Ledger kinds in display order. */
const ledgerKinds = Object.keys(ledgerWords) as readonly LedgerKind[];

/** Formats cents with a sign: `-1999` as `-$19.99`, `1999` as `+$19.99`. */
export const signed = (cents: number): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', signDisplay: 'exceptZero' }).format(
    cents / 100,
  );

const hasWallet = ({ store }: Service, userId: string): boolean =>
  store.get('SELECT 1 FROM wallets WHERE user_id = ?', userId) !== undefined;

/** Renders the form that adds money to a wallet, and the form that empties the wallet. */
function moneyForms({ config }: Service, userId: string): Content {
  const fields = { amount: 10_000 };
  return html`<form method="post" action="${walletPath(userId)}/fund" class="inline">${onceField()}
<label>Amount in dollars<input name="amount" inputmode="decimal" required value="100.00" autocomplete="off"></label>
<button>Add money</button></form>
<form method="post" action="${walletPath(userId)}/empty" class="inline"><button title="all that no order has set aside">Take all that is there</button></form>${sameFromTerminal(
    config,
    'same-fund',
    [
      triggerCall(config, { event: 'wallet-funded', fields, options: ['--amount', '100.00'] }),
      triggerCall(config, { event: 'wallet-emptied' }),
    ],
    'With a key of this wallet in ERRAND_API_KEY.',
  )}`;
}

const backToWallet = ({ path: { id } }: { readonly path: { readonly id: string } }): WayBack => ({
  path: walletPath(id),
  text: 'Back to the wallet',
});

function checkWallet(service: Service, userId: string): void {
  if (!hasWallet(service, userId)) throw new ErrorResponse('not_found', 'No wallet is here.');
}

/** Adds money to a wallet. Resubmitting the form has no effect. */
export const fundWallet = formAction<'consoleFund'>(backToWallet, async ({ service, path: { id } }, form) => {
  const { store, clock } = service;
  checkWallet(service, id);
  const once = onceIn(form);
  const cents = centsIn(form, 'amount', 'Amount');
  await store.transaction(() => fund(store, id, cents, clock.now(), once));
  return seeOther(walletPath(id));
});

/** Removes all money that is not reserved by orders, to rehearse an empty wallet. */
export const emptyWallet = formAction<'consoleEmpty'>(backToWallet, async ({ service, path: { id } }) => {
  const { store, clock } = service;
  checkWallet(service, id);
  await store.transaction(() => empty(store, id, clock.now()));
  return seeOther(walletPath(id));
});

/** Number of keys shown, newest first. */
const maxKeys = 25;
/** Maximum number of holds listed. Further holds are only counted. */
const maxHolds = 8;

/** Wallets of all users, newest first. */
export const walletsPage: Page<'consoleWallets'> = ({ service: { store }, search }) =>
  listPage({
    section: 'wallets',
    lead: 'Each user has one. Orders hold their ceiling in it until they are placed or fail.',
    search,
    filters: {},
    columns,
    read: (part) => {
      const { where, order, values } = windowOf(part, { from: usersWithWallets, seq: 'u.number' });
      return store.all(
        `SELECT u.number AS seq, u.id, u.email, u.order_count, w.balance, w.reserved FROM ${usersWithWallets}
         WHERE ${where} ORDER BY ${order} LIMIT ?`,
        ...values,
        part.limit,
      );
    },
    numberOf: ({ seq }) => Number(seq),
    csv: {
      id: ({ id }) => String(id),
      owner: ({ email }) => (email === null ? null : String(email)),
      balance_cents: ({ balance }) => Number(balance),
      held_cents: ({ reserved }) => Number(reserved),
      orders: ({ order_count }) => Number(order_count),
    },
    table: walletsTable,
  });

const usersWithWallets = 'users u JOIN wallets w ON w.user_id = u.id';

const columns: readonly Column[] = [
  { name: 'Owner', by: userKey('w.user_id') },
  { name: 'Balance', look: 'fit number', by: 'w.balance' },
  { name: 'Held', look: 'fit number', by: 'w.reserved' },
  { name: 'To spend', look: 'fit number', by: 'w.balance - w.reserved' },
  { name: 'Orders', look: 'fit number', by: 'u.order_count' },
];

const walletsTable = (rows: readonly StoredRow[], head: Content): Content =>
  rows.length === 0
    ? html`<p class="soft">No wallet yet. Each key that is minted gets one.</p>`
    : html`<table class="stack">${head}<tbody>${rows.map(
        ({ id, email, balance, reserved, order_count }) =>
          html`<tr id="wallet-${String(id)}"><td><a href="${walletPath(String(id))}"><bdi>${String(email ?? 'Wallet')}</bdi></a> <small class="mono">${String(id).slice(0, 8)}</small></td>
<td class="fit number" data-label="balance">${money(Number(balance))}</td><td class="fit number" data-label="held">${money(Number(reserved))}</td>
<td class="fit number" data-label="to spend">${money(Number(balance) - Number(reserved))}</td><td class="fit number" data-label="orders">${Number(order_count)}</td></tr>`,
      )}</tbody></table>`;

/** Page of a user's wallet: all changes, whose sum is the balance, and the current holds. */
export const walletPage: Page<'consoleWallet'> = ({ service, path: { id }, search }) => {
  const { store, clock } = service;
  if (!hasWallet(service, id))
    return notThere('No such wallet', 'No wallet is here.', { section: 'wallets' });
  const now = clock.now();
  const body = html`<p class="lead">Every change of this wallet, and the sum that its balance is.</p>
${section('sum', 'Adds up', sum(service, id, walletOf(store, id)))}
${section('fund', 'Add or take money', moneyForms(service, id))}
${section(
  'ledger',
  'Ledger',
  pagedTable({
    path: walletPath(id),
    search,
    read: (part) => readLedger(store, id, part),
    numberOf: ({ seq }) => seq,
    table: ledgerTable,
  }),
)}
${section('keys', 'Keys', keys(service, keysOf(service, id), now))}`;
  return consolePage(`Wallet of ${userNames(store, [id])(id)}`, body, { live: true, section: 'wallets' });
};

const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;

/** Renders the total per ledger kind, then the balance, then the holds. */
function sum({ store }: Service, userId: string, { balance, spendable }: Wallet): Content {
  const totals = totalsOf(store, userId);
  const kinds = ledgerKinds.filter((kind) => totals.has(kind));
  const added = kinds.reduce((total, kind) => total + (totals.get(kind) ?? 0), 0);
  const { holds, count } = holdsOf(store, userId, maxHolds);
  const line = (name: Content, amount: string, mark = ''): Content =>
    html`<tr class="${mark}"><th scope="row">${name}</th><td class="fit number">${amount}</td></tr>`;
  return html`<table class="sum"><tbody>${kinds.map((kind) => line(ledgerWords[kind], signed(totals.get(kind) ?? 0)))}
${line('Balance', money(balance), 'total')}${
  added !== balance &&
  html`<tr><td colspan="2" class="bad">The ledger adds up to ${money(added)}: a bug of the sandbox.</td></tr>`
}${line(
  count === 0 ? 'Held' : html`Held for ${count} open ${count === 1 ? 'order' : 'orders'}`,
  signed(spendable - balance),
)}${holds.map(
  ({ orderId, cents }) =>
    html`<tr class="part"><td>${orderLink(orderId)}</td><td class="fit number">${signed(-cents)}</td></tr>`,
)}${
  count > holds.length && html`<tr class="part"><td colspan="2">and ${count - holds.length} more</td></tr>`
}${line('To spend', money(spendable), 'total')}</tbody></table>`;
}

const orderLink = (id: string): Content =>
  html`<a class="mono" href="${ordersPath}/${id}" aria-label="Order ${id.slice(0, 8)}">${id.slice(0, 8)}</a>`;

const ledgerTable = (entries: readonly EntryWithBalance[]): Content =>
  entries.length === 0
    ? html`<p class="soft">Nothing is older.</p>`
    : html`<table class="stack"><thead><tr><th class="fit">Time (UTC)</th><th>What</th><th class="fit">Order</th>
<th class="fit number">Amount</th><th class="fit number">Balance</th></tr></thead><tbody>${entries.map(
        ({ seq, at, kind, cents, orderId, balance }) =>
          html`<tr id="entry-${seq}"><td class="fit number"><time datetime="${new Date(at).toISOString()}">${dateTime(at)}</time></td>
<td class="short">${ledgerWords[kind]}</td><td class="fit">${orderId !== null && orderLink(orderId)}</td>
<td class="fit number">${signed(cents)}</td><td class="fit number" data-label="balance">${money(balance)}</td></tr>`,
      )}</tbody></table>`;

const keysOf = ({ store }: Service, userId: string): StoredRow[] =>
  store.all(
    `SELECT id, name, claim_token, claimed_at, claimed_by, created_at, used_at FROM api_keys
     WHERE user_id = ? AND order_id IS NULL ORDER BY rowid DESC LIMIT ?`,
    userId,
    maxKeys,
  );

/** @param now ms since the epoch. */
const keys = ({ config }: Service, rows: readonly StoredRow[], now: number): Content =>
  rows.length === 0
    ? html`<p class="soft">No key spends from it.</p>`
    : html`${rows.map(
        (row) =>
          html`<div class="key" id="key-${String(row.id)}"><p><span class="mono">${config.prefix}_test_…</span>${
            typeof row.name === 'string' && html` ${row.name}`
          } <small>minted ${age(Number(row.created_at), now)}${
            row.claimed_at === null ? '' : html`, claimed by ${String(row.claimed_by)}`
          }</small></p>${row.claimed_at === null && row.claim_token !== null && claimForm(String(row.id))}</div>`,
      )}${sameFromTerminal(config, 'same-claim', [triggerCall(config, { event: 'key-claimed' })], 'Claims the key in ERRAND_API_KEY for human@example.com.')}`;

const claimForm = (keyId: string): Content =>
  html`<form method="post" action="${keysPath}/${keyId}/claim" class="inline">
<label>Email of who claims it<input name="email" type="email" required autocomplete="email"></label><button aria-label="Claim key ${keyId.slice(0, 8)}">Claim</button></form>`;

export const claimKey = formAction<'consoleClaim'>(
  () => ({ path: keysPath, text: 'Back to the keys' }),
  async ({ service: { store, clock }, path: { id } }, form) => {
    const email = emailIn(form);
    if (email === undefined) throw new Misfilled('That is not an email address.');
    const key = store.get('SELECT user_id, claim_token FROM api_keys WHERE id = ?', id);
    if (!key || key.claim_token === null)
      throw new ErrorResponse('not_found', 'There is no such key to claim.');
    if ((await claim(store, String(key.claim_token), email, clock.now())) !== 'claimed')
      throw new ErrorResponse('bad_request', 'This key is claimed already.');
    return seeOther(walletPath(String(key.user_id)));
  },
);
