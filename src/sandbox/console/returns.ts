import { returnReasons, returnStatuses } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { type Mood, spoken } from '../../api/order-state.ts';
import { type Content, type Html, html } from '../../platform/html.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import { acceptReturn } from '../returns/create.ts';
import { boughtQuantity } from '../returns/credit.ts';
import { forceReturn, possibleOutcomes } from '../returns/force.ts';
import { withLabels } from '../returns/labels.ts';
import { type ForcedReturn, forcedReturns } from '../returns/lifecycle.ts';
import { findReturn, returnsOf, type StoredReturn, storedReturn } from '../returns/records.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import {
  type Column,
  type Conditions,
  conditionOf,
  type Filters,
  listPage,
  listQuery,
  readFilters,
  startsWith,
  userCondition,
  userKey,
  userNames,
  usersToOffer,
  windowOf,
} from './lists.ts';
import { consolePage, notThere, type Page } from './page.ts';
import { age, money, outsideLink, sameAs, stateBadge } from './parts.ts';
import { titlesNow } from './products.ts';
import { ordersPath, sections, walletPath } from './sections.ts';
import { curlCall, sameFromTerminal, sameRequest, triggerCall } from './terminal-commands.ts';

const filterNames = ['id', 'status', 'user'] as const;
type Name = (typeof filterNames)[number];

const conditions: Conditions<Name> = {
  id: (value) => ({
    sql: `(${startsWith('r.id')}) OR (${startsWith('r.order_id')}) OR r.number = ?`,
    values: Array.from({ length: 5 }, () => value.toLowerCase()),
  }),
  status: (value) => ({ sql: 'r.status = ?', values: [value] }),
  user: (value) => userCondition('r.user_id', value),
};

/** Omits legacy statuses, because reading a return maps a legacy status to a current status. */
const statuses = returnStatuses.filter((status) => status !== 'in_progress' && status !== 'completed');

/** Lists the returns of all users, newest first. */
export const returnsPage: Page<'consoleReturns'> = ({ service: { store, clock }, search }) => {
  const filters = readFilters(search, filterNames);
  const { sql, values } = conditionOf(conditions, filters);
  const byStatus = counts(store, filters);
  const sum = [...byStatus.values()].reduce((total, count) => total + count, 0);
  return listPage({
    section: 'returns',
    search,
    filters,
    bar: {
      what: ['return', 'returns'],
      count: {
        all: Number(store.get('SELECT count(*) AS count FROM returns')?.count),
        found: filters.status === '' ? sum : (byStatus.get(filters.status) ?? 0),
      },
      fields: [
        { kind: 'text', name: 'id', label: 'Id of it, or of its order' },
        { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
        {
          kind: 'links',
          name: 'status',
          label: 'Status',
          choices: statuses.map((value) => ({ value, text: spoken(value), count: byStatus.get(value) ?? 0 })),
        },
      ],
    },
    columns,
    read: (part) => {
      const follows = windowOf(part, { from: 'returns r', seq: 'r.seq' });
      return store
        .all(
          `SELECT * FROM returns r WHERE ${sql} AND ${follows.where} ORDER BY ${follows.order} LIMIT ?`,
          ...values,
          ...follows.values,
          part.limit,
        )
        .map(storedReturn);
    },
    numberOf: ({ seq }) => seq,
    csv: {
      id: ({ record }) => record.id,
      state: ({ record }) => record.status,
      reason: ({ record }) => record.reason,
      units: ({ record }) => record.items.reduce((sum, { quantity }) => sum + quantity, 0),
      credited_cents: ({ record }) => record.credited_amount,
      order_id: ({ record }) => record.order_id,
      by: ({ userId }) => userNames(store, [userId])(userId),
      requested_at: ({ record }) => record.created_at,
    },
    table: (rows, head, query) => returnsTable(store, rows, { now: clock.now(), head, query }),
  });
};

const columns: readonly Column[] = [
  { name: 'Return', look: 'fit' },
  { name: 'State', look: 'fit', by: 'r.status' },
  { name: 'Reason', by: "r.record ->> '$.reason'" },
  { name: 'Credited', look: 'fit number', by: "r.record ->> '$.credited_amount'" },
  { name: 'Order', look: 'fit' },
  { name: 'By', look: 'fit', by: userKey('r.user_id') },
  { name: 'Requested', look: 'fit', by: 'r.seq', isAge: true },
];

function counts(store: Store, filters: Filters<Name>): Map<string, number> {
  const { sql, values } = conditionOf(conditions, filters, 'status');
  const rows = store.all(
    `SELECT r.status, count(*) AS count FROM returns r WHERE ${sql} GROUP BY 1`,
    ...values,
  );
  return new Map(rows.map(({ status, count }) => [String(status), Number(count)]));
}

function returnsTable(
  store: Store,
  rows: readonly StoredReturn[],
  { now, head, query }: { readonly now: number; readonly head: Content; readonly query: string },
): Content {
  if (rows.length === 0)
    return html`<p class="soft">No return yet. One is requested on the page of an order that was placed.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ userId }) => userId),
  );
  return html`<table class="stack">${head}<tbody>${rows.map(
    ({ record: { id, status, reason, items, credited_amount, order_id, created_at }, userId }) =>
      html`<tr id="return-${id}"><td class="fit"><a class="mono" href="${returnsPath}/${id}${query}">${id.slice(0, 8)}</a></td><td class="fit">${returnBadge(status)}</td>
<td>${spoken(reason)} <small>${units(items)}</small></td><td class="fit number" data-label="credited">${money(credited_amount)}</td>
<td class="fit" data-label="order"><a class="mono" href="${ordersPath}/${order_id}">${order_id.slice(0, 8)}</a></td><td class="fit" data-label="by">${nameOf(userId)}</td><td class="fit">${age(Date.parse(created_at), now)}</td></tr>`,
  )}</tbody></table>`;
}

/** Formats the number of units returned. */
function units(items: StoredReturn['record']['items']): string {
  const count = items.reduce((sum, { quantity }) => sum + quantity, 0);
  return count === 1 ? '1 unit' : `${count.toLocaleString('en-US')} units`;
}

/** Page of a return: its items and reason, its outcome, and the events that can be triggered. */
export const returnPage: Page<'consoleReturnPage'> = async ({ service, path: { id }, search }) => {
  const { store, clock, config } = service;
  const found = findReturn(store, id, null);
  const order = found && findOrder(store, found.record.order_id, null);
  if (!order) return notThere('No such return', 'No return has this id here.', { section: 'returns' });
  const now = clock.now();
  const record = await withLabels(service, found, now);
  const urlOf = (item: string): string => order.record.items.find((one) => one.id === item)?.url ?? item;
  const facts: readonly (readonly [string, Content])[] = [
    ['Id', html`<span class="mono">${record.id}</span>`],
    ['Order', html`<a class="mono" href="${ordersPath}/${record.order_id}">${record.order_id}</a>`],
    ['Reason', spoken(record.reason)],
    ['Notes', record.notes],
    ['Resolution', record.resolution_notes],
    ['Retailer’s number', record.merchant_return_id],
    [
      'Credited',
      html`${money(record.credited_amount)} <a href="${walletPath(found.userId)}">to the wallet of ${userNames(store, [found.userId])(found.userId)}</a>`,
    ],
    [
      'Labels',
      record.label_urls.map(
        (url, index) =>
          html`<a href="${new URL(url).pathname}${new URL(url).search}">Label ${index + 1}</a> `,
      ),
    ],
  ];
  const body = html`<p>${returnBadge(record.status)} <span class="soft">requested ${age(Date.parse(record.created_at), now)}</span></p>
<section id="facts"><dl>${facts
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
    )}</dl>${returnActions(service, found, { order, now, back: 'return' })}</section>
<section id="items"><header><h2>Sent back: ${units(record.items)}</h2></header><table class="stack"><thead><tr><th>Product</th><th class="fit">Quantity</th></tr></thead><tbody>${record.items.map(
    ({ order_item_id, quantity }) =>
      html`<tr><td>${outsideLink(urlOf(order_item_id))}</td><td class="fit" data-label="Quantity">${quantity}</td></tr>`,
  )}</tbody></table></section>
<div class="card" id="same">${sameAs('this return', sameRequest(config, { method: 'GET', target: operations['return.get'].path.replace('{return_request_id}', record.id) }))}</div>`;
  return consolePage(`Return ${record.id.slice(0, 8)}`, body, {
    live: true,
    section: 'returns',
    query: listQuery(search, filterNames),
  });
};

const returnsPath = sections.returns.path;

/** Labels of the buttons. The API names these actions after the resulting state. */
const verbs: Readonly<Record<ForcedReturn, string>> = {
  approved: 'Approve',
  denied: 'Deny',
  credited: 'Credit',
};

/**
 * Renders an order's returns with their actions, and a form to request a return; null if the order has no returns and
 * no return can be requested.
 */
export function returnsOfOrder(service: Service, order: StoredOrder, now: number): Content {
  const found = returnsOf(service.store, order.seq);
  const form = order.record.status === 'order_placed' && requestForm(service, order);
  if (found.length === 0 && !form) return null;
  return html`<section id="returns"><header><h2>Returns</h2></header>${found.map((one) =>
    shownReturn(service, order, one, now),
  )}${form}</section>`;
}

const moods: Readonly<Record<string, Mood>> = { denied: 'bad', credited: 'good', approved: 'good' };

const returnBadge = (status: string): Html =>
  stateBadge({ text: spoken(status), mood: moods[status] ?? 'waiting' });

const shownReturn = (service: Service, order: StoredOrder, found: StoredReturn, now: number): Content => {
  const { id, status, reason, items, credited_amount, resolution_notes, created_at } = found.record;
  const count = items.reduce((sum, { quantity }) => sum + quantity, 0);
  return html`<div class="return" id="return-${id}"><p>${returnBadge(status)} <a class="mono" href="${returnsPath}/${id}">${id.slice(0, 8)}</a> ${spoken(reason)}, ${count} ${count === 1 ? 'unit' : 'units'}${
    credited_amount > 0 && `, ${money(credited_amount)} credited`
  } <small>requested ${age(Date.parse(created_at), now)}</small></p>${
    resolution_notes !== null && html`<p class="soft">${resolution_notes}</p>`
  }${returnActions(service, found, { order, now, back: 'order' })}</div>`;
};

interface Shown {
  readonly order: StoredOrder;
  /** Current sandbox time, ms since the epoch. */
  readonly now: number;
  /** The page that shows the buttons. After a button is pressed, the browser returns to this page. */
  readonly back: 'order' | 'return';
}

/** Renders a button for each outcome that is possible now. */
function returnActions(service: Service, found: StoredReturn, { order, now, back }: Shown): Content {
  const { id } = found.record;
  const outcomes = possibleOutcomes(service, found, order, now);
  if (outcomes.length === 0) return null;
  return html`<div class="actions">${outcomes.map(
    (kind) =>
      html`<form method="post" action="${returnsPath}/${id}/${kind}" id="return-${id}-${kind}"><input type="hidden" name="back" value="${back}"><button aria-label="${verbs[kind]} return ${id.slice(0, 8)}">${verbs[kind]}</button></form>`,
  )}</div>${sameFromTerminal(
    service.config,
    `same-return-${id}`,
    outcomes.map((kind) => triggerCall(service.config, { event: `return-${kind}`, id })),
  )}`;
}

/** Handles the outcome buttons of a return. */
export const returnEvent = formAction<'consoleReturnEvent'>(
  ({ service: { store }, path: { id } }) =>
    findReturn(store, id, null)
      ? { path: `${returnsPath}/${id}`, text: 'Back to the return' }
      : { path: returnsPath, text: 'All returns' },
  async ({ service, path: { id, event } }, form) => {
    const kind = forcedReturns.find((name) => name === event);
    if (!kind) throw new ErrorResponse('not_found', 'No such thing can happen to a return.');
    const { order_id } = await forceReturn(service, { id, userId: null }, kind, service.clock.now());
    const isOfOrder = form.get('back') === 'order';
    return seeOther(isOfOrder ? `${ordersPath}/${order_id}#returns` : `${returnsPath}/${id}`);
  },
);

function requestForm(service: Service, { record }: StoredOrder): Content {
  const { config } = service;
  const titleOf = titlesNow(service);
  const [first] = record.items;
  if (!first) return null;
  const path = `${ordersPath}/${record.id}/return`;
  const body = {
    order_id: record.id,
    items: [{ order_item_id: first.id, quantity: 1 }],
    reason: returnReasons[0],
  };
  return html`<form method="post" action="${path}" class="inline" id="return-form">${onceField()}
<label>Item<select name="item">${record.items.map(
    (item) =>
      html`<option value="${item.id}">${boughtQuantity(record, item)} × ${titleOf(item.url)}</option>`,
  )}</select></label>
<label>Quantity<input name="quantity" type="number" min="${limits.quantity.min}" required value="1" autocomplete="off"></label>
<label>Reason<select name="reason">${returnReasons.map((reason) => html`<option value="${reason}">${spoken(reason)}</option>`)}</select></label>
<button>Request a return</button></form>${sameFromTerminal(config, 'same-return', [
    {
      what: 'requesting a return',
      errand: [
        ...['return', 'create', '--order', record.id],
        ...['--item', `${first.id}=1`, '--reason', body.reason],
      ],
      curl: curlCall(config, { method: 'POST', path: operations['return.create'].path, body }),
    },
  ])}`;
}

/** Requests a return of one item, through the same path as `POST /returns`. Resubmitting the form has no effect. */
export const requestReturn = formAction<'consoleReturn'>(
  ({ path: { id } }) => ({ path: `${ordersPath}/${id}#returns`, text: 'Back to the order' }),
  async ({ service, path: { id } }, form) => {
    const { store, clock } = service;
    const order = findOrder(store, id, null);
    if (!order) throw new ErrorResponse('not_found', 'No order has this id here.');
    const quantity = (form.get('quantity') ?? '').trim();
    if (!/^[1-9]\d{0,8}$/.test(quantity)) throw new Misfilled('Quantity takes a whole number above 0.');
    const { checkShape } = await import('../../api/schemas/check.ts');
    const { value: body, issues } = checkShape(
      'ReturnRequestCreate',
      {
        order_id: order.record.id,
        items: [{ order_item_id: form.get('item') ?? '', quantity: Number(quantity) }],
        reason: form.get('reason') ?? '',
      },
      'body',
    );
    if (!body) throw new Invalid(issues);
    await acceptReturn(service, { userId: order.userId }, body, clock.now(), onceIn(form));
    return seeOther(`${ordersPath}/${order.record.id}#returns`);
  },
);
