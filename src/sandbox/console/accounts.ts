import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { deleteAccount, noteForwarded } from '../accounts/changes.ts';
import { type Account, accountOf, shownAccount } from '../accounts/records.ts';
import type { SandboxConfig } from '../config.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { foreignJson } from '../server/secrets.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { formAction, Misfilled, seeOther } from './form-action.ts';
import {
  type Conditions,
  conditionOf,
  filterBar,
  latest,
  listPage,
  readFilters,
  userCondition,
  userNames,
  usersToOffer,
} from './lists.ts';
import { ordersTable, readOrdersOnAccount } from './orders.ts';
import { consolePage, notThere, type Page } from './page.ts';
import { age } from './parts.ts';
import { ordersPath, sections, walletPath } from './sections.ts';
import { curlCall, sameFromTerminal, triggerCall } from './terminal-commands.ts';

const accountsPath = sections.accounts.path;

const filterNames = ['id', 'retailer', 'user'] as const;

const conditions: Conditions<(typeof filterNames)[number]> = {
  id: (value) => ({
    sql: 'instr(lower(a.email), ?) > 0 OR a.short_id = ? OR instr(a.id, ?) = 1',
    values: [value.toLowerCase(), value, value.toLowerCase()],
  }),
  retailer: (value) => ({ sql: "coalesce(a.retailer, '–') = ?", values: [value] }),
  user: (value) => userCondition('a.user_id', value),
};

/** Lists the managed accounts of all users, newest first. Shows only whether secrets exist, never their values. */
export const accountsPage: Page<'consoleAccounts'> = ({ service: { store, clock }, search }) => {
  const filters = readFilters(search, filterNames);
  const { sql, values } = conditionOf(conditions, filters);
  const count = (where: string, bound: readonly (string | number)[]): number =>
    Number(store.get(`SELECT count(*) AS count FROM accounts a WHERE ${where}`, ...bound)?.count);
  const others = conditionOf(conditions, filters, 'retailer');
  const retailers = store.all(
    `SELECT coalesce(a.retailer, '–') AS value, count(*) AS count FROM accounts a WHERE ${others.sql} GROUP BY 1 ORDER BY 1`,
    ...others.values,
  );
  return listPage({
    section: 'accounts',
    title: 'Managed accounts',
    search,
    filters,
    bar: filterBar({
      path: accountsPath,
      what: ['account', 'accounts'],
      filters,
      count: { all: count('true', []), found: count(sql, values) },
      fields: [
        { kind: 'text', name: 'id', label: 'Id, or part of the email' },
        { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
        {
          kind: 'select',
          name: 'retailer',
          label: 'Retailer',
          choices: retailers.map((row) => ({
            value: String(row.value),
            text: row.value === '–' ? anyRetailer : String(row.value),
            count: Number(row.count),
          })),
        },
      ],
    }),
    read: ({ before, limit }) =>
      store.all(
        `SELECT a.*, (SELECT count(*) FROM orders o WHERE o.account_id = a.id) AS orders FROM accounts a
         WHERE ${sql} AND a.seq < ? ORDER BY a.seq DESC LIMIT ?`,
        ...values,
        before,
        limit,
      ),
    numberOf: ({ seq }) => Number(seq),
    table: (rows) => accountsTable(store, rows, clock.now()),
  });
};

/** Label for default credentials, which apply to every retailer without credentials of its own. */
const anyRetailer = 'every other';

function accountsTable(store: Store, rows: readonly StoredRow[], now: number): Content {
  if (rows.length === 0)
    return html`<p class="soft">No managed account yet. <code>errand account add</code> makes one.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ user_id }) => String(user_id)),
  );
  return html`<table class="stack"><thead><tr><th class="fit">Account</th><th>Email</th><th class="fit">Retailer</th><th class="fit">Secrets</th>
<th class="fit number">Orders</th><th class="fit">By</th><th class="fit">Added</th></tr></thead><tbody>${rows.map(
    (row) => {
      const { id, shortId, email, retailer, password, totpSecret, createdAt } = accountOf(row);
      const secrets = [password !== null && 'password', totpSecret !== null && 'two-factor'].filter(Boolean);
      return html`<tr id="account-${id}"><td class="fit"><a class="mono" href="${accountsPath}/${id}">${shortId}</a></td><td>${email}</td>
<td class="fit" data-label="for">${retailer ?? anyRetailer}</td><td class="fit" data-label="secrets">${secrets.length > 0 ? secrets.join(', ') : 'none'}</td>
<td class="fit number" data-label="orders">${Number(row.orders)}</td><td class="fit" data-label="by">${nameOf(String(row.user_id))}</td><td class="fit">${age(createdAt, now)}</td></tr>`;
    },
  )}</tbody></table>`;
}

/**
 * Page of a managed account. Shows the account's purpose, whether an order holds the account, and the orders placed
 * with the account.
 */
export const accountPage: Page<'consoleAccount'> = ({ service, path: { id } }) => {
  const { store, clock, config } = service;
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
  const orders = readOrdersOnAccount(service, account.id, latest);
  const body = html`<section id="facts"><dl>${facts
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
    )}</dl>${accountActions(config, account)}</section>
<section id="orders"><header><h2>Newest orders with it</h2></header>${ordersTable(orders, now)}</section>`;
  return consolePage(`Account ${shown.short_id}`, body, { live: true, section: 'accounts' });
};

/** Renders the actions available for a managed account. @param shortId its public id in the API. */
function accountActions(
  config: SandboxConfig,
  { shortId, hasForwarding }: { readonly shortId: string; readonly hasForwarding: boolean },
): Content {
  const path = operations['account.delete'].path.replace('{short_id}', shortId);
  const button = (event: string, name: string, more: Content = null): Content =>
    html`<form method="post" action="${accountsPath}/${shortId}/${event}" id="account-${shortId}-${event}">${more}<button>${name}<span class="unseen"> for ${shortId}</span></button></form>`;
  return html`<div class="actions">${!hasForwarding && button('forwarded', 'Forwarded message arrives')}${button(
    'delete',
    'Delete',
    html`<label class="check"><input type="checkbox" name="sure" value="yes" required> Orders that wait for it fail</label>`,
  )}</div>${sameFromTerminal(config, `same-account-${shortId}`, [
    ...(hasForwarding ? [] : [triggerCall(config, { event: 'account-forwarded', id: shortId })]),
    {
      what: 'deleting the account',
      errand: ['account', 'remove', shortId],
      curl: curlCall(config, { method: 'DELETE', path }),
    },
  ])}`;
}

/** Handles the event buttons of a managed account. */
export const accountEvent = formAction<'consoleAccountEvent'>(
  ({ service: { store }, path: { id } }) =>
    findNamed(store, id)
      ? { path: `${accountsPath}/${id}`, text: 'Back to the account' }
      : { path: accountsPath, text: 'All accounts' },
  async ({ service, path: { id, event } }, form) => {
    const account = findNamed(service.store, id);
    if (!account) throw new ErrorResponse('not_found', 'There is no such account any more.');
    const now = service.clock.now();
    if (event === 'forwarded') await noteForwarded(service.store, account.id, now);
    else if (event === 'delete') {
      if (form.get('sure') !== 'yes')
        throw new Misfilled('Deleting it makes the orders that wait for it fail: tick that this is meant.');
      await deleteAccount(service, account.id, now);
    } else throw new ErrorResponse('not_found', 'No such thing can happen to an account.');
    return seeOther(event === 'delete' ? accountsPath : `${accountsPath}/${id}`);
  },
);

function findNamed(store: Store, shortId: string): Account | undefined {
  const row = store.get('SELECT * FROM accounts WHERE short_id = ?', shortId);
  return row && accountOf(row);
}
