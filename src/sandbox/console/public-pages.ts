import { uuidPattern } from '../../api/limits.ts';
import { orderState, shortfallsIn } from '../../api/order-state.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { html } from '../../platform/html.ts';
import { runDueTransitions } from '../control/due-transitions.ts';
import { type Decision, decideDevice } from '../keys/device.ts';
import { claim, claimable } from '../keys/keys.ts';
import { publicTracking } from '../orders/lifecycle/index.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import { findOrder } from '../orders/records.ts';
import { json } from '../server/refusal.ts';
import { readQuery } from '../server/request.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { emailIn, readForm } from './form-action.ts';
import { htmlPage } from './html.ts';
import type { Page } from './page.ts';
import { dateTime, lineText, outsideLink, parcels, quantityOf, stateBadge } from './parts.ts';

const narrow = true;

/** Page behind a `claim_url`, on which a human claims the sandbox. The sandbox's key keeps working. */
export const claimPage: Page<'claim'> = async (visit) => {
  const { service, request, path } = visit;
  const { store, clock } = service;
  const { token } = path;
  const found = claimable(store, token);
  if (!found)
    return htmlPage('No such sandbox', html`<p>This link claims no sandbox.</p>`, { status: 404, narrow });
  if (found.claimed) return claimedBefore(found.claimed.by);
  if (request.method !== 'POST') return claimForm();
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const email = emailIn(form);
  if (email === undefined) return claimForm('That is not an email address.');
  // Another claim on the same sandbox was faster than this claim.
  if ((await claim(store, token, email, clock.now())) !== 'claimed') return claimPage(visit);
  return htmlPage(
    'Claimed',
    html`<div class="card"><p>The sandbox belongs to ${email} now. Its key works as before.</p></div>`,
    { narrow },
  );
};

/** Page shown once the sandbox has been claimed. The email is masked, so that only its owner can recognise it. */
const claimedBefore = (email: string): SandboxResponse =>
  htmlPage(
    'Claimed',
    html`<div class="card"><p>This sandbox was claimed by ${masked(email)}. Its key works as before.</p></div>`,
    { narrow },
  );

const masked = (email: string): string => email.replace(/^(.).*(?=@)/u, '$1…');

const claimForm = (problem = ''): SandboxResponse =>
  htmlPage(
    'Claim this sandbox',
    html`<p class="lead">A claimed sandbox has an owner. Nothing else changes: its key works as before.</p>
<form method="post" class="card">${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
<label>Your email<input name="email" type="email" required autocomplete="email"></label>
<button class="main">Claim it</button></form>`,
    { status: problem === '' ? 200 : 400, narrow },
  );

/** Serves the `delivery_proof_url`: the photo taken by the carrier. Knowing the order id authorises access. */
export const proofPage: Page<'proof'> = async ({ service, path: { order_id: id, number } }) => {
  const now = service.clock.now();
  await runDueTransitions(service, now, service.readBudget.forRead(now));
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  const parcel = order?.record.tracking_numbers.find(
    ({ svc_tracking_number: own, delivery_proof_url: url }) => own === number && url !== null,
  );
  if (!parcel) {
    const message = 'There is no proof of delivery here.';
    return json(404, { code: 'not_found', message, details: { resource: 'delivery_proof' } });
  }
  const [last] = parcel.checkpoints ?? [];
  return picture([
    'Delivered: left at the front door',
    `${parcel.carrier} ${parcel.tracking_number}`,
    ...(last ? [dateTime(Date.parse(last.checkpoint_time)), last.city ?? ''] : []),
    'A rehearsal: no carrier was here.',
  ]);
};

function picture(lines: readonly string[]): SandboxResponse {
  const image = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 360" font-family="sans-serif" font-size="16">
<rect width="480" height="360" fill="#e8ebf0"/><rect x="150" y="30" width="180" height="210" fill="#7a5a3c"/>
<circle cx="310" cy="140" r="6" fill="#d9b44a"/><rect x="190" y="180" width="100" height="60" fill="#c69a63"/>
${lines.map((line, index) => html`<text x="240" y="${264 + 20 * index}" text-anchor="middle">${line}</text>`)}</svg>
`;
  return {
    status: 200,
    headers: {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
    },
    body: image.text,
  };
}

type Tracked = Shape<'PublicTrackingResponse'>;

/** The API serves the same path; content negotiation selects the response. */
const headers = { vary: 'Accept' };

/** Public view of an order for anyone who knows its id; never shows the recipient. */
export const trackingPage: Page<'tracking'> = async ({ service, path: { order_id: id } }) => {
  const now = service.clock.now();
  await runDueTransitions(service, now, service.readBudget.forRead(now));
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  if (order) return found(publicTracking(order.record), order.record);
  const body = html`<p class="lead">No order has this id. The link may have been cut short.</p>`;
  return htmlPage('No such order', body, { status: 404, narrow: true, headers });
};

function found(tracked: Tracked, { fulfillment, items }: OrderRecord): SandboxResponse {
  const { destination, estimated_delivery_date: expected } = tracked;
  const state = orderState({
    status: tracked.current_status,
    items,
    parcels: tracked.shipments,
    fulfillment,
  });
  const town = [destination.city, destination.state, destination.postal_code].filter(Boolean).join(' ');
  const lines = [destination.address_line1, destination.address_line2, town, destination.country];
  const address = lines.filter((line) => line !== null && line !== '');
  const shortfalls = shortfallsIn(fulfillment);
  const body = html`<p>${stateBadge(state)}${
    expected !== null &&
    state.mood === 'waiting' &&
    html` <span class="soft">delivery expected ${expected}</span>`
  }</p>
<section><header><h2>Parcels</h2></header>${parcels(tracked.shipments)}</section>
<section><header><h2>Items</h2></header><table class="stack"><thead><tr><th>Product</th><th class="fit">Quantity</th><th class="fit">State</th></tr></thead>
<tbody>${items.map(
    (item) =>
      html`<tr><td>${outsideLink(item.url)}${item.variant?.map(
        ({ label, value }) => html` <small>${label}: ${value}</small>`,
      )}</td><td class="fit" data-label="Quantity">${quantityOf(item, shortfalls)}</td><td class="fit">${lineText(item, shortfalls)}</td></tr>`,
  )}</tbody></table></section>
<section><header><h2>Goes to</h2></header><p>${address.map((line) => html`${line}<br>`)}</p></section>`;
  return htmlPage(`Order ${tracked.order_id.slice(0, 8)}`, body, { live: true, headers });
}

/** Maps each button of the form to its decision. */
const decisions: ReadonlyMap<string | null, Decision> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

/** Page on which a person approves or denies a device code. */
export const devicePage: Page<'device'> = async ({ service: { store, clock }, request, search }) => {
  if (request.method !== 'POST') {
    const [code = ''] = readQuery(search).user_code ?? [];
    return deviceForm(code);
  }
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const code = form.get('user_code') ?? '';
  const decision = decisions.get(form.get('decision'));
  if (!decision) return deviceForm(code, 'Approve it, or deny it.');
  const email = (form.get('email') ?? '').trim() === '' ? null : emailIn(form);
  if (email === undefined) return deviceForm(code, 'That is not an email address.');
  const decided = await decideDevice(store, code, { decision, email, now: clock.now() });
  if (!decided) return deviceForm(code, 'No device waits with this code. It may have expired.');
  return htmlPage(
    decision === 'approved' ? 'Approved' : 'Denied',
    html`<div class="card"><p>You can close this page and go back to the device.</p></div>`,
    { narrow: true },
  );
};

const deviceForm = (code: string, problem = ''): SandboxResponse =>
  htmlPage(
    'Sign in a device',
    html`<p class="lead">Approve only a code that your own device shows.</p>
<form method="post" class="card">${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
<label>Code<input name="user_code" class="mono" value="${code}" required autocomplete="off" autocapitalize="characters" spellcheck="false"></label>
<label>Your email, if you like<input name="email" type="email" autocomplete="email"></label>
<div class="actions"><button name="decision" value="approve" class="main">Approve</button><button name="decision" value="deny">Deny</button></div></form>`,
    { status: problem === '' ? 200 : 400, narrow: true },
  );
