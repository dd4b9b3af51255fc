import { type Content, html } from '../../platform/html.ts';
import { accountOf } from '../accounts/records.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { type Conditions, conditionOf, userCondition } from './conditions.ts';
import { filterBar, readFilters } from './filters.ts';
import { usersToOffer } from './find-orders.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { listPage } from './paging.ts';
import { sections } from './sections.ts';
import { userNames } from './users.ts';

export const accountsPath = sections.accounts.path;

const filterNames = ['id', 'retailer', 'user'] as const;

const conditions: Conditions<(typeof filterNames)[number]> = {
  id: (value) => ({
    sql: 'instr(lower(a.email), ?) > 0 OR a.short_id = ? OR instr(a.id, ?) = 1',
    values: [value.toLowerCase(), value, value.toLowerCase()],
  }),
  retailer: (value) => ({ sql: "coalesce(a.retailer, '–') = ?", values: [value] }),
  user: (value) => userCondition('a.user_id', value),
};

/** The managed accounts of every user, newest first; of their secrets no more than that there are some. */
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

/** Default credentials are for each retailer that has none of its own. */
export const anyRetailer = 'every other';

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
