import { errorHint } from '../../api/error-codes.ts';
import { html } from '../../platform/html.ts';
import { type SandboxConfig, shopPath } from '../config.ts';
import {
  isTestSlug,
  type TestProduct,
  type TestSlug,
  testFacts,
  testProducts,
  testSlugs,
} from '../orders/lifecycle/test-products.ts';
import { isOfThisMachine } from './guard.ts';
import { orderForm, rehearsalOf } from './order-form.ts';
import { copied } from './pages/copied.ts';
import { money } from './pages/figures.ts';
import { htmlPage } from './pages/html.ts';
import { siteLinks } from './pages/links.ts';
import type { Page } from './pages/page.ts';

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
export const shopPage: Page<'shop'> = () =>
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
export const productPage: Page<'product'> = (visit) => {
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
