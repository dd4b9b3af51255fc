import { type Content, html } from '../../platform/html.ts';
import { accountOf, shownAccount } from '../accounts/records.ts';
import { foreignJson } from '../server/secrets.ts';
import { accountActions } from './account-actions.ts';
import { anyRetailer } from './accounts.ts';
import { consolePage, notThere } from './console-page.ts';
import { walletPath } from './console-paths.ts';
import { ordersPath, ordersTable, readOrdersOnAccount } from './orders.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { newest } from './paging.ts';
import { userNames } from './users.ts';

/** A managed account: what it is for, whether an order holds it, and the orders that were placed with it. */
export const accountPage: Page<'consoleAccount'> = ({ service: { store, clock, config }, path: { id } }) => {
  const row = store.get('SELECT * FROM accounts WHERE id = ? OR short_id = ?', id.toLowerCase(), id);
  if (!row)
    return notThere('No such account', 'No managed account has this id here.', { section: 'accounts' });
  const account = accountOf(row);
  const now = clock.now();
  const shown = shownAccount(store, account, now);
  const userId = String(row.user_id);
  const { locked_by_job_id: holder, last_used_at: used } = shown;
  const facts: readonly (readonly [string, Content])[] = [
    ['Id', html`<span class="mono">${shown.short_id}</span> <small class="mono">${shown.id}</small>`],
    ['Email', shown.email],
    ['Retailer', shown.retailer ?? anyRetailer],
    ['Password', account.password === null ? 'none' : 'kept, sealed'],
    ['Two-factor secret', shown.has_totp ? 'kept, sealed' : 'none'],
    [
      'Configuration',
      shown.retailer_config && html`<code>${foreignJson(JSON.stringify(shown.retailer_config))}</code>`,
    ],
    ['Forwards to', html`<span class="mono">${shown.forwarding_email}</span>`],
    ['Forwarding', shown.has_forwarding ? 'a message has come' : 'no message yet'],
    [
      'Held by',
      holder === null
        ? 'no order'
        : html`<a class="mono" href="${ordersPath}/${holder}">${holder.slice(0, 8)}</a>`,
    ],
    ['Last used', used === null ? 'never' : age(Date.parse(used), now)],
    ['User', html`<a href="${walletPath(userId)}">${userNames(store, [userId])(userId)}</a>`],
    ['Added', age(account.createdAt, now)],
  ];
  const orders = readOrdersOnAccount(store, account.id, newest);
  const body = html`<section id="facts"><dl>${facts
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
    )}</dl>${accountActions(config, account)}</section>
<section id="orders"><header><h2>Newest orders with it</h2></header>${ordersTable(orders, now)}</section>`;
  return consolePage(`Account ${shown.short_id}`, body, { live: true, section: 'accounts' });
};
