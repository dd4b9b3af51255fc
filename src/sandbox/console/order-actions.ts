import { sandboxTriggers } from '../../api/control.ts';
import { cancellableOrderStatuses, type OrderStatus } from '../../api/enums.ts';
import { type ErrorType, errorTypeGroups, errorTypes } from '../../api/error-types.ts';
import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import type { SandboxConfig } from '../config.ts';
import {
  cancelOrder,
  forceOrder,
  isOrderTrigger,
  type OrderTrigger,
  possibleTriggers,
} from '../orders/interventions.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { advanceBy } from './advance.ts';
import { controlCall } from './control-call.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther, type WayBack } from './form-action.ts';
import { ordersPath } from './orders.ts';
import { curlCall, sameFromTerminal } from './same-from-terminal.ts';
import { triggerCall } from './trigger-call.ts';

function backToOrder({ path: { id } }: { readonly path: { readonly id: string } }): WayBack {
  return { path: `${ordersPath}/${id}`, text: 'Back to the order' };
}

/** What happens to an order: its caller cancels it, or a trigger fires. */
type OrderEvent = 'cancel' | OrderTrigger;

const usualError: ErrorType = 'checkout_failed';

/** A button for each thing that can happen to an order now; a word where its life is over and it says nothing else. @param now ms since the epoch. */
export async function orderActions(service: Service, order: StoredOrder, now: number): Promise<Content> {
  const { id, status } = order.record;
  const cancellable: readonly OrderStatus[] = cancellableOrderStatuses;
  const triggers = await possibleTriggers(service, order, now);
  const events: readonly OrderEvent[] = [
    ...(cancellable.includes(status) ? ['cancel' as const] : []),
    ...triggers,
  ];
  const end = order.plan.at(-1)?.at;
  if (events.length === 0 && end === undefined) {
    if (order.record.job_result?.success === false) return null;
    return html`<section id="over"><p class="soft">Its life is over: nothing more happens to it.</p></section>`;
  }
  return html`<section id="actions"><header><h2>Make it happen now</h2></header><div class="actions">${events.map(
    (event) =>
      html`<form method="post" action="${ordersPath}/${id}/${event}" id="event-${event}"><button title="${meaningOf(event)}">${event.replaceAll('-', ' ')}</button>${
        event === 'failed' && reasons
      }</form>`,
  )}${end !== undefined && untilDoneForm(id)}</div>${sameFromTerminal(
    service.config,
    'same-events',
    [
      ...events.map((event) => callOf(service.config, event, id)),
      ...(end === undefined ? [] : [advanceCall(service.config, end - now)]),
    ],
    'With a key of the order’s user in ERRAND_API_KEY.',
  )}</section>`;
}

/** A button that moves the clock to the end of what an order's future holds. */
const untilDoneForm = (id: string): Content =>
  html`<form method="post" action="${ordersPath}/${id}/until-done" id="event-until-done">${onceField()}<button title="moves the sandbox’s clock, for all orders">advance until it is done</button></form>`;

const advanceCall = (config: SandboxConfig, ms: number) => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return controlCall(config, 'advancing until it is done', ['advance', `${seconds}s`], {
    action: 'advance',
    body: { ms: seconds * 1000 },
  });
};

/** Moves the clock until an order's life is over, as its button requests. */
export const untilDone = formAction<'consoleUntilDone'>(backToOrder, ({ service, path: { id } }, form) => {
  const { store, clock } = service;
  const order = findOrder(store, id, null);
  if (!order) throw new Refusal('not_found', 'No order has this id here.');
  const path = `${ordersPath}/${id}`;
  const end = order.plan.at(-1)?.at;
  if (end === undefined) return seeOther(path);
  return advanceBy(service, Math.max(0, end - clock.now()), { once: onceIn(form), path, step: path });
});

const meaningOf = (event: OrderEvent): string =>
  event === 'cancel' ? 'the caller cancels the order' : sandboxTriggers[event].description;

/** Why an order fails, for its form. */
const reasons: Content = html`<select name="error_type" aria-label="Why it fails">${errorTypeGroups.map(
  (group) =>
    html`<optgroup label="${group}">${Object.entries(errorTypes)
      .filter(([, row]) => row.group === group)
      .map(
        ([type]) => html`<option value="${type}"${type === usualError && html` selected`}>${type}</option>`,
      )}</optgroup>`,
)}</select>`;

function callOf(config: SandboxConfig, event: OrderEvent, id: string) {
  if (event === 'cancel') {
    const path = operations['order.cancel'].path.replace('{order_id}', id);
    return {
      what: event,
      errand: ['order', 'cancel', id],
      curl: curlCall(config, { method: operations['order.cancel'].method, path }),
    };
  }
  return triggerCall(config, {
    event,
    id,
    ...(event === 'failed' && {
      fields: { error_type: usualError },
      options: ['--error-type', usualError],
    }),
  });
}

/** Makes something happen to an order, as a button of its page requests. */
export const triggerEvent = formAction<'consoleEvent'>(
  backToOrder,
  async ({ service, path: { id, event } }, form) => {
    const now = service.clock.now();
    if (event === 'cancel') await cancelOrder(service, { id, userId: null }, now);
    else if (isOrderTrigger(event)) {
      const errorType = event === 'failed' ? errorTypeIn(form) : undefined;
      await forceOrder(service, { trigger: event, id, userId: null, errorType }, now);
    } else throw new Refusal('not_found', 'No such thing can happen to an order.');
    return seeOther(`${ordersPath}/${id}`);
  },
);

function errorTypeIn(form: URLSearchParams): ErrorType | undefined {
  const given = form.get('error_type');
  if (given === null) return undefined;
  if (Object.hasOwn(errorTypes, given)) return given as ErrorType;
  throw new Misfilled('Why it fails takes one of the reasons of the list.');
}
