import { returnReasons } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { type Mood, spoken } from '../../api/order-state.ts';
import { type Content, type Html, html } from '../../platform/html.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import { acceptReturn } from '../returns/create.ts';
import { boughtQuantity } from '../returns/credit.ts';
import { forceReturn, possibleOutcomes } from '../returns/force.ts';
import { type ForcedReturn, forcedReturns } from '../returns/lifecycle.ts';
import { findReturn, returnsOf, type StoredReturn } from '../returns/records.ts';
import { Invalid, Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import { ordersPath } from './orders.ts';
import { age, money } from './pages/figures.ts';
import { stateBadge } from './pages/words.ts';
import { curlCall, sameFromTerminal } from './same-from-terminal.ts';
import { sections } from './sections.ts';
import { triggerCall } from './trigger-call.ts';

export const returnsPath = sections.returns.path;

/** What its button says; the wire's name is what becomes of the return. */
const verbs: Readonly<Record<ForcedReturn, string>> = {
  approved: 'Approve',
  denied: 'Deny',
  credited: 'Credit',
};

/** The returns of an order with what can be made of each, and a form that requests another; nothing where none can be. */
export function returnsOfOrder(service: Service, order: StoredOrder, now: number): Content {
  const found = returnsOf(service.store, order.seq);
  const form = order.record.status === 'order_placed' && requestForm(service, order);
  if (found.length === 0 && !form) return null;
  return html`<section id="returns"><header><h2>Returns</h2></header>${found.map((one) =>
    shownReturn(service, order, one, now),
  )}${form}</section>`;
}

const moods: Readonly<Record<string, Mood>> = { denied: 'bad', credited: 'good', approved: 'good' };

/** The state of a return. */
export const returnBadge = (status: string): Html =>
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
  /** ms since the epoch. */
  readonly now: number;
  /** Whose page the buttons stand on and lead back to. */
  readonly back: 'order' | 'return';
}

/** A button for each outcome that a return can have now. */
export function returnActions(service: Service, found: StoredReturn, { order, now, back }: Shown): Content {
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

/** Makes the outcome of a return happen, as its button requests. */
export const returnEvent = formAction<'consoleReturnEvent'>(
  ({ service: { store }, path: { id } }) =>
    findReturn(store, id, null)
      ? { path: `${returnsPath}/${id}`, text: 'Back to the return' }
      : { path: returnsPath, text: 'All returns' },
  async ({ service, path: { id, event } }, form) => {
    const kind = forcedReturns.find((name) => name === event);
    if (!kind) throw new Refusal('not_found', 'No such thing can happen to a return.');
    const { order_id } = await forceReturn(service, { id, userId: null }, kind, service.clock.now());
    const isOfOrder = form.get('back') === 'order';
    return seeOther(isOfOrder ? `${ordersPath}/${order_id}#returns` : `${returnsPath}/${id}`);
  },
);

function requestForm({ config }: Service, { record }: StoredOrder): Content {
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
      html`<option value="${item.id}">${boughtQuantity(record, item)} × ${item.url.slice(-60)}</option>`,
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

/** Requests a return of one item of an order, by the way that `POST /returns` goes; once for each form that was shown. */
export const requestReturn = formAction<'consoleReturn'>(
  ({ path: { id } }) => ({ path: `${ordersPath}/${id}#returns`, text: 'Back to the order' }),
  async ({ service, path: { id } }, form) => {
    const { store, clock } = service;
    const order = findOrder(store, id, null);
    if (!order) throw new Refusal('not_found', 'No order has this id here.');
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
