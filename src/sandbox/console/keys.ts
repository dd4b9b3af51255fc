import { type Content, html } from '../../platform/html.ts';
import type { Service } from '../server/service.ts';
import { lastMs } from '../store/clock.ts';
import type { StoredRow } from '../store/store.ts';
import { walletPath } from './console-paths.ts';
import { mintForm } from './mint.ts';
import { age, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { listPage, type Part } from './paging.ts';

/** Keys with the wallet each spends from, newest first; not those that read one order alone. */
export const readKeys = ({ store }: Service, { before, limit }: Part): StoredRow[] =>
  store.all(
    `SELECT k.rowid AS seq, k.name, k.claimed_by, k.created_at, k.used_at, u.id, u.email, u.order_count, w.balance, w.reserved
     FROM api_keys k JOIN users u ON u.id = k.user_id JOIN wallets w ON w.user_id = u.id
     WHERE k.rowid < ? AND k.order_id IS NULL ORDER BY k.rowid DESC LIMIT ?`,
    before,
    limit,
  );

/** Of a key nothing is kept that could be shown, so it is known by whose it is. @param now ms since the epoch. */
export const keysTable = ({ config }: Service, rows: readonly StoredRow[], now: number): Content =>
  rows.length === 0
    ? html`<p class="soft">No key yet.</p>${mintForm(config)}`
    : html`<table class="stack"><thead><tr><th>Key</th><th>Owner</th><th class="fit number">Wallet</th>
<th class="fit number">Reserved</th><th class="fit number">Orders</th><th class="fit">Minted</th><th class="fit">Last used</th></tr></thead><tbody>${rows.map(
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
    read: (part) => readKeys(service, part),
    numberOf: ({ seq }) => Number(seq),
    table: (rows) =>
      html`${rows.length > 0 && mintForm(service.config)}${keysTable(service, rows, service.clock.now())}`,
  });
