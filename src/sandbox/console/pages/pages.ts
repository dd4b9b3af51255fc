import { errorHint } from '../../../api/error-codes.ts';
import { uuidPattern } from '../../../api/limits.ts';
import { orderState, shortfallsIn } from '../../../api/order-state.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { html } from '../../../platform/html.ts';
import { type SandboxConfig, shopPath } from '../../config.ts';
import { bringUpToDate } from '../../control/bring-up-to-date.ts';
import { claim, claimable } from '../../keys/claims.ts';
import {
  type OrderRecord,
  publicTracking,
  type TestSlug,
  testProducts,
  testSlugs,
} from '../../orders/lifecycle/index.ts';
import { isTestSlug, type TestProduct, testFacts } from '../../orders/lifecycle/test-products.ts';
import { findOrder } from '../../orders/records.ts';
import { json } from '../../server/refusal.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { accountPage } from '../account.ts';
import { accountEvent } from '../account-actions.ts';
import { accountsPage } from '../accounts.ts';
import { advanceClock } from '../advance.ts';
import { batchPage } from '../batch.ts';
import { retryBatch } from '../batch-actions.ts';
import { batchesPage } from '../batches.ts';
import { deliveriesPage } from '../deliveries.ts';
import { deliveryPage } from '../delivery.ts';
import { faultsPage, setSeed, switchOff, switchOn } from '../faults.ts';
import { frontPage } from '../front.ts';
import { forThisMachine, isOfThisMachine } from '../guard.ts';
import { keysPage } from '../keys.ts';
import { mintKeyPage } from '../mint.ts';
import { orderPage } from '../order.ts';
import { triggerEvent, untilDone } from '../order-actions.ts';
import { orderForm, placeOrder, rehearsalOf } from '../order-form.ts';
import { ordersPage } from '../orders.ts';
import { paymentPage } from '../payment.ts';
import { paymentsPage } from '../payments.ts';
import { replayDelivery } from '../replay.ts';
import { replayEditedPage } from '../replay-edited.ts';
import { requestPage } from '../request.ts';
import { requestsPage } from '../requests.ts';
import { returnPage } from '../return.ts';
import { returnsPage } from '../returns.ts';
import { requestReturn, returnEvent } from '../returns-of-order.ts';
import { keepSnapshot, resetSandbox, restoreSnapshot, setSpeed, timePage } from '../time.ts';
import { claimKey, walletPage } from '../wallet.ts';
import { emptyWallet, fundWallet } from '../wallet-money.ts';
import { copied } from './copied.ts';
import { devicePage } from './device.ts';
import { dateTime, money } from './figures.ts';
import { emailIn, readForm } from './forms.ts';
import { htmlPage } from './html.ts';
import { siteLinks } from './links.ts';
import type { AnyPageRequest, Page } from './page.ts';
import { parcels } from './parcels.ts';
import type { PageName } from './routes.ts';
import { lineText, outsideLink, quantityOf, stateBadge } from './words.ts';

const narrow = true;

/** The page that a `claim_url` leads to: a human claims the sandbox, and its key goes on working. */
const claimPage: Page<'claim'> = async (visit) => {
  const { service, request, path } = visit;
  const { store, clock } = service;
  const { token } = path;
  const found = claimable(store, token);
  if (!found)
    return htmlPage('No such sandbox', html`<p>This link claims no sandbox.</p>`, { status: 404, narrow });
  if (found.claimed) return claimedBefore(found.claimed.by);
  if (request.method !== 'POST') return formPage();
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const email = emailIn(form);
  if (email === undefined) return formPage('That is not an email address.');
  // Another may have been faster.
  if ((await claim(store, token, email, clock.now())) !== 'claimed') return claimPage(visit);
  return htmlPage(
    'Claimed',
    html`<div class="card"><p>The sandbox belongs to ${email} now. Its key works as before.</p></div>`,
    { narrow },
  );
};

/** A later visitor sees enough to recognise an own address, and no more. */
const claimedBefore = (email: string): SandboxResponse =>
  htmlPage(
    'Claimed',
    html`<div class="card"><p>This sandbox was claimed by ${masked(email)}. Its key works as before.</p></div>`,
    { narrow },
  );

const masked = (email: string): string => email.replace(/^(.).*(?=@)/u, '$1…');

const formPage = (problem = ''): SandboxResponse =>
  htmlPage(
    'Claim this sandbox',
    html`<p class="lead">A claimed sandbox has an owner. Nothing else changes: its key works as before.</p>
<form method="post" class="card">${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
<label>Your email<input name="email" type="email" required autocomplete="email"></label>
<button class="main">Claim it</button></form>`,
    { status: problem === '' ? 200 : 400, narrow },
  );

/** What `delivery_proof_url` leads to: the picture that a carrier takes at the door. The order's id is the secret. */
const proofPage: Page<'proof'> = async ({ service, path: { order_id: id, number } }) => {
  const now = service.clock.now();
  await bringUpToDate(service, now, service.patience.forRead(now));
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

type Slug = TestSlug;

/** What becomes of an order, and the products that show it. */
const kinds: readonly { readonly title: string; readonly has: (product: TestProduct) => boolean }[] = [
  {
    title: 'Goes through',
    has: (product) => !(product.refusesCreation || product.fails || needsSubstitute(product)),
  },
  { title: 'Fails in progress', has: ({ fails }) => fails !== undefined },
  { title: 'Fails unless you allow a substitute', has: needsSubstitute },
  { title: 'Refused at once', has: ({ refusesCreation }) => refusesCreation !== undefined },
];

function needsSubstitute({ facts }: TestProduct): boolean {
  return facts?.quantityCap !== undefined || facts?.giftOption === false;
}

function priceOf(slug: Slug): string {
  const { priceCents, currency } = testFacts(slug);
  return money(priceCents, currency);
}

/** Every product of the sandbox's own shop, by what it rehearses. */
const shopPage: Page<'shop'> = () =>
  htmlPage(
    'The sandbox shop',
    html`<p class="lead">Products that rehearse every outcome. Order one from the service, and it happens.</p>${kinds.map(
      ({ title, has }) =>
        html`<section><header><h2>${title}</h2></header><table class="stack"><tbody>${testSlugs
          .filter((slug) => has(testProducts[slug]))
          .map((slug) => {
            const { name, description } = testProducts[slug];
            return html`<tr><td class="name"><a href="${shopPath}/${slug}">${name}</a></td><td>${description}</td><td class="fit number">${priceOf(slug)}</td></tr>`;
          })}</tbody></table></section>`,
    )}`,
    { links: siteLinks, current: { path: shopPath, isPage: true } },
  );

/** What a product rehearses, and the command that orders it. */
const productPage: Page<'product'> = (visit) => {
  const { service, path } = visit;
  const { config } = service;
  const { slug } = path;
  if (!isTestSlug(slug)) {
    const body = html`<p class="lead">The shop has no such product. <a href="${shopPath}">All products</a></p>`;
    return htmlPage('No such product', body, { status: 404, links: siteLinks, narrow: true });
  }
  const { name, description, scenario, refusesCreation }: TestProduct = testProducts[slug];
  const hint = errorHint(refusesCreation ?? scenario);
  const url = `${config.shopUrl}/${slug}`;
  return htmlPage(
    name,
    html`<p class="lead">${description}</p>
<section><dl><dt>Price</dt><dd>${priceOf(slug)}</dd><dt>Rehearses</dt><dd><code>${scenario}</code></dd>${
      hint !== undefined && html`<dt>What to do about it</dt><dd>${hint}</dd>`
    }<dt>Product URL</dt><dd><code>${url}</code></dd></dl></section>
${isOfThisMachine(visit) && html`<section><header><h2>Order it here</h2></header>${orderForm(service, slug)}</section>`}
<section><header><h2>Order it from a terminal</h2></header>
${copied('the order', orderCommand(slug, url, profileOf(config)))}</section>
<section><header><h2>Before the first order here</h2></header>
${copied('the setup', setUpCommands(config))}</section>
<p><a href="${shopPath}">All products</a></p>`,
    { links: siteLinks, current: { path: shopPath, isPage: false }, copies: true },
  );
};

/** The command that brings the product's outcome about. */
function orderCommand(slug: Slug, url: string, profile: string): string {
  const { quantity, ceilingCents, isGift } = rehearsalOf(slug);
  const lines = quantity === 1 ? url : `${url},quantity=${quantity}`;
  return `errand order create --product ${lines}${isGift ? ' --gift' : ''} --max-price '${money(ceilingCents)}' --ship-to home --watch --profile ${profile}`;
}

/** A key for this sandbox, kept in a profile of its own: an order must not land in another sandbox. */
const setUpCommands = (config: SandboxConfig): string =>
  `errand profile set ${profileOf(config)} --base-url ${config.baseUrl}\nerrand sandbox mint --profile ${profileOf(config)}`;

const profileOf = ({ baseUrl }: SandboxConfig): string =>
  `sandbox-${new URL(baseUrl).host.replace(/[^A-Za-z0-9.]+/g, '-')}`;

type Tracked = Shape<'PublicTrackingResponse'>;

/** The API has the same path; the response depends on the request. */
const headers = { vary: 'Accept' };

/** What anyone who holds an order's id sees of it: never whom it is for. */
const trackingPage: Page<'tracking'> = async ({ service, path: { order_id: id } }) => {
  const now = service.clock.now();
  await bringUpToDate(service, now, service.patience.forRead(now));
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

const pages: { readonly [N in PageName]: Page<N> } = {
  console: forThisMachine(frontPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: forThisMachine(triggerEvent),
  consoleUntilDone: forThisMachine(untilDone),
  consoleReturn: forThisMachine(requestReturn),
  consoleRetryBatch: forThisMachine(retryBatch),
  consoleAccountEvent: forThisMachine(accountEvent),
  consoleReturnEvent: forThisMachine(returnEvent),
  consoleBatches: forThisMachine(batchesPage),
  consoleBatch: forThisMachine(batchPage),
  consoleReturns: forThisMachine(returnsPage),
  consoleReturnPage: forThisMachine(returnPage),
  consoleAccounts: forThisMachine(accountsPage),
  consoleAccount: forThisMachine(accountPage),
  consolePayments: forThisMachine(paymentsPage),
  consolePayment: forThisMachine(paymentPage),
  consoleDeliveries: forThisMachine(deliveriesPage),
  consoleReplay: forThisMachine(replayDelivery),
  consoleReplayEdited: forThisMachine(replayEditedPage),
  consoleDelivery: forThisMachine(deliveryPage),
  consoleRequests: forThisMachine(requestsPage),
  consoleRequest: forThisMachine(requestPage),
  consoleTime: forThisMachine(timePage),
  consoleAdvance: forThisMachine(advanceClock),
  consoleSpeed: forThisMachine(setSpeed),
  consoleSnapshot: forThisMachine(keepSnapshot),
  consoleRestore: forThisMachine(restoreSnapshot),
  consoleReset: forThisMachine(resetSandbox),
  consoleFaults: forThisMachine(faultsPage),
  consoleFaultOn: forThisMachine(switchOn),
  consoleFaultOff: forThisMachine(switchOff),
  consoleFaultSeed: forThisMachine(setSeed),
  consoleKeys: forThisMachine(keysPage),
  consoleMint: forThisMachine(mintKeyPage),
  consoleClaim: forThisMachine(claimKey),
  consoleWallet: forThisMachine(walletPage),
  consoleEmpty: forThisMachine(emptyWallet),
  consoleFund: forThisMachine(fundWallet),
  consolePlace: forThisMachine(placeOrder),
  claim: claimPage,
  device: devicePage,
  shop: shopPage,
  product: productPage,
  tracking: trackingPage,
  proof: proofPage,
};

/** The page of a name. @throws Refusal, DatabaseError. */
export function showPage(name: PageName, request: AnyPageRequest): ReturnType<Page<PageName>> {
  // The routes pair each name with the parameters of its path.
  const page = pages[name] as (request: AnyPageRequest) => ReturnType<Page<PageName>>;
  return page(request);
}
