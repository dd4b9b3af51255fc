import { errorHint } from '../../api/error-codes.ts';
import { limits } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { consolePath, type SandboxConfig, shopPath } from '../config.ts';
import { exampleOrder } from '../keys/keys.ts';
import { acceptOrder } from '../orders/create.ts';
import {
  isTestSlug,
  type TestProduct,
  type TestSlug,
  testFacts,
  testProducts,
  testSlugs,
} from '../orders/lifecycle/test-products.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { findOrder } from '../orders/records.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { centsIn, formAction, Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import { mintForm } from './keys.ts';
import { isOfThisMachine, type Page, sitePage } from './page.ts';
import { copied, money } from './parts.ts';
import { ordersPath } from './sections.ts';
import { curlCall, sameFromTerminal } from './terminal-commands.ts';

type Slug = TestSlug;

/** Product groups, by the outcome they demonstrate. */
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

/** Lists the products of the sandbox's shop, grouped by outcome. */
export const shopPage: Page<'shop'> = (visit) =>
  sitePage(
    visit,
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
    { isList: true },
  );

/** Page of a product. Shows which outcome an order of the product has, and the command that orders the product. */
export const productPage: Page<'product'> = (visit) => {
  const { service, path } = visit;
  const { config } = service;
  const { slug } = path;
  if (!isTestSlug(slug)) {
    const body = html`<p class="lead">The shop has no such product. <a href="${shopPath}">All products</a></p>`;
    return sitePage(visit, 'No such product', body, { status: 404, narrow: true });
  }
  const { name, description, scenario, refusesCreation }: TestProduct = testProducts[slug];
  const hint = errorHint(refusesCreation ?? scenario);
  const url = `${config.shopUrl}/${slug}`;
  return sitePage(
    visit,
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
    { copies: true },
  );
};

/** The command that triggers the product's outcome. */
function orderCommand(slug: Slug, url: string, profile: string): string {
  const { quantity, ceilingCents, isGift } = rehearsalOf(slug);
  const lines = quantity === 1 ? url : `${url},quantity=${quantity}`;
  return `errand order create --product ${lines}${isGift ? ' --gift' : ''} --max-price '${money(ceilingCents)}' --ship-to home --watch --profile ${profile}`;
}

/** Commands that create a key and store it in a profile of its own, so that orders cannot go to another sandbox. */
const setUpCommands = (config: SandboxConfig): string =>
  `errand profile set ${profileOf(config)} --base-url ${config.baseUrl}\nerrand sandbox mint --profile ${profileOf(config)}`;

const profileOf = ({ baseUrl }: SandboxConfig): string =>
  `sandbox-${new URL(baseUrl).host.replace(/[^A-Za-z0-9.]+/g, '-')}`;

/** Offers only the users whose keys were used most recently, to keep the list short. */
const maxUsers = 25;

interface User {
  readonly id: string;
  readonly email: string | null;
  readonly name: string;
  readonly spendable: number;
}

const usersOf = (store: Store): User[] =>
  store
    .all(
      `SELECT u.id, u.email, k.name, w.balance - w.reserved AS spendable, max(k.used_at) AS used
       FROM api_keys k JOIN users u ON u.id = k.user_id JOIN wallets w ON w.user_id = u.id
       WHERE k.order_id IS NULL GROUP BY u.id ORDER BY used DESC, u.number DESC LIMIT ?`,
      maxUsers,
    )
    .map(({ id, email, name, spendable }) => ({
      id: String(id),
      email: email === null ? null : String(email),
      name: [email, name].filter((part) => typeof part === 'string').join(' · '),
      spendable: Number(spendable),
    }));

/** The order parameters that trigger a test product's outcome. */
function rehearsalOf(slug: TestSlug): { quantity: number; ceilingCents: number; isGift: boolean } {
  const { facts }: TestProduct = testProducts[slug];
  const quantity = facts?.quantityCap === undefined ? 1 : facts.quantityCap + 1;
  return { quantity, ceilingCents: quantity === 1 ? 5_000 : 10_000, isGift: facts?.giftOption === false };
}

/** Renders a form to order a shop product on behalf of a sandbox user. */
function orderForm({ store, config }: Service, slug: TestSlug): Content {
  const users = usersOf(store);
  if (users.length === 0) return html`<p>An order needs a key, and there is none yet.</p>${mintForm(config)}`;
  const { quantity, ceilingCents, isGift } = rehearsalOf(slug);
  return html`<form method="post" action="${consolePath}/shop/${slug}" class="inline">${onceField({ isPersistent: true })}
<label>For<select name="user">${users.map(
    ({ id, name, spendable }) =>
      html`<option value="${id}">${name === '' ? '' : `${name} · `}${id.slice(0, 8)}, ${money(spendable)} to spend</option>`,
  )}</select></label>
<label>Quantity<input name="quantity" type="number" min="${limits.quantity.min}" required value="${quantity}" autocomplete="off"></label>
<label>Ceiling in dollars<input name="max_price" inputmode="decimal" required value="${(ceilingCents / 100).toFixed(2)}" autocomplete="off"></label>
<label class="check"><input type="checkbox" name="is_gift" value="yes"${isGift && html` checked`}> As a gift</label>
<button class="main">Order it now</button></form>${sameFromTerminal(
    config,
    'same-order',
    [
      {
        what: 'ordering it',
        errand: null,
        curl: curlCall(config, {
          method: 'POST',
          path: operations['order.create'].path,
          body: bodyOf(config.shopUrl, slug, { quantity, max_price: ceilingCents, is_gift: isGift }),
        }),
      },
    ],
    'The command stands below; this call places an order each time that it is sent, for it names no idempotency_key.',
  )}`;
}

interface Filled {
  readonly quantity: number;
  readonly max_price: number;
  readonly is_gift: boolean;
  readonly idempotency_key?: string;
}

const bodyOf = (shopUrl: string, slug: TestSlug, { quantity, is_gift, ...rest }: Filled): unknown => ({
  ...exampleOrder(shopUrl),
  products: [{ url: `${shopUrl}/${slug}`, quantity }],
  ...(is_gift && { is_gift }),
  ...rest,
});

/**
 * Places an order from its form, through the same path as `POST /orders`. The form's token is the idempotency key, so a
 * resubmitted form places one order.
 */
export const placeOrder = formAction<'consolePlace'>(
  ({ path: { slug } }) => ({ path: `${shopPath}/${slug}`, text: 'Back to the product' }),
  async (visit, form) => {
    const { service, path } = visit;
    if (!isTestSlug(path.slug)) throw new ErrorResponse('not_found', 'The shop has no such product.');
    const { store, config, clock } = service;
    const user = store.get('SELECT id, email FROM users WHERE id = ?', form.get('user') ?? '');
    if (!user) throw new Misfilled('Choose for whom to order: this user is not here.');
    const body = await checked(
      bodyOf(config.shopUrl, path.slug, {
        quantity: quantityIn(form),
        max_price: centsIn(form, 'max_price', 'Ceiling'),
        is_gift: form.get('is_gift') === 'yes',
        idempotency_key: onceIn(form),
      }),
    );
    const caller = {
      userId: String(user.id),
      email: user.email === null ? null : String(user.email),
      keyHash: '',
      orderId: null,
    };
    try {
      const order: { id: string } = JSON.parse(await acceptOrder(service, caller, body, clock.now()));
      return seeOther(`${ordersPath}/${order.id}`);
    } catch (error) {
      const id =
        error instanceof ErrorResponse && error.code === 'already_exists' ? error.details.identifier : null;
      if (typeof id !== 'string') throw error;
      return sentTwice(store, id, body);
    }
  },
);

/** Redirects to the order that this form has already placed. Refuses if the form's values have changed since then. */
function sentTwice(store: Store, id: string, body: OrderBody) {
  const placed = findOrder(store, id, null);
  if (placed && JSON.stringify(placed.body) === JSON.stringify(body)) return seeOther(`${ordersPath}/${id}`);
  throw new ErrorResponse(
    'already_exists',
    `This form has placed order ${id.slice(0, 8)} already, with other values. Load the product's page again to place another.`,
  );
}

async function checked(value: unknown): Promise<OrderBody> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const { value: body, issues } = checkShape('OrderCreate', value, 'body');
  if (body) return body;
  throw new Invalid(issues);
}

function quantityIn(form: URLSearchParams): number {
  const text = (form.get('quantity') ?? '').trim();
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Misfilled('Quantity takes a whole number above 0.');
}
