import { operations } from '../../../api/operations/index.ts';
import { loadPolicy } from '../../../spending/policy/load.ts';
import { noPolicy } from '../../../spending/policy/none.ts';
import { shownUsage } from '../../../spending/policy/settle.ts';
import { parametersOf, z } from '../arguments.ts';
import { defineTool } from '../tool.ts';
import { cents, flag, listOf, optionalCents, optionalText, record, shown, text } from './shapes.ts';

/** Default number of listings, which a model can still read at once. */
const fewListings = 10;

const {
  search: searching,
  'product.get': product,
  'retailer.check': checking,
  'retailer.list': retailerListing,
} = operations;

/** Default number of retailers. */
const fewRetailers = 25;

export const search = defineTool({
  name: 'search',
  title: 'Search products',
  description: `${searching.summary}. Prices are in cents. A result has the url that order_quote takes.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(searching)),
  output: () => ({ results: shown('SearchResponse') }),
  certain: ['results'],
  untrusted: ['results'],
  async run({ context }, given) {
    const client = await context.client();
    const { body } = await client.call('search', {
      query: { limit: fewListings, ...(given as SearchQuery) },
    });
    return { record: { results: body } };
  },
});

// These casts are safe, because both values were validated against the operation's own parameters.
type SearchQuery = { q: string };
type ProductGiven = { product_id: string; retailer: string };

export const productGet = defineTool({
  name: 'product_get',
  title: "Read a product's details",
  description: `${product.summary}. product_id and retailer are those of a search result, or of the product's URL.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(product, ['product_id', 'retailer', 'max_age'])),
  output: () => ({ product: shown('ProductDetailsPayload') }),
  certain: ['product'],
  untrusted: ['product'],
  async run({ context }, given) {
    const { product_id, ...query } = given as ProductGiven;
    const client = await context.client();
    const { body } = await client.call('product.get', { path: { product_id }, query });
    return { record: { product: body } };
  },
});

export const retailerCheck = defineTool({
  name: 'retailer_check',
  title: 'Check whether a URL can be ordered',
  description: `${checking.summary}. It costs nothing and orders nothing.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(checking)),
  output: () => ({ check: shown('RetailerCheckResponse') }),
  certain: ['check'],
  untrusted: ['check'],
  async run({ context }, given) {
    const client = await context.client();
    const { body } = await client.call('retailer.check', { query: given as { url: string } });
    return { record: { check: body } };
  },
});

export const retailers = defineTool({
  name: 'retailers',
  title: 'List retailers',
  description: `${retailerListing.summary}. Whether one product can be ordered, retailer_check says.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(retailerListing, ['limit', 'offset', 'name'])),
  output: () => ({
    retailers: listOf(shown('PublicRetailer'), 'retailers that can be ordered from'),
    total: { type: ['integer', 'null'], description: 'how many there are in all' },
  }),
  certain: ['retailers'],
  untrusted: ['retailers'],
  async run({ context }, given) {
    const client = await context.client();
    const { body } = await client.call('retailer.list', { query: { limit: fewRetailers, ...given } });
    return { record: { retailers: body.retailers, total: body.total ?? null } };
  },
});

export const wallet = defineTool({
  name: 'wallet',
  title: 'Read the wallet and what the policy leaves',
  description:
    'What can be spent, the fee of an order, and what each limit of the policy for a day or a month has left. Amounts are in cents.',
  effect: 'reads',
  arguments: z.strictObject({}),
  output: () => ({
    wallet: shown('Wallet'),
    rehearsal: flag('no real money moves: the sandbox, or a test key'),
    policy: optionalText('what there is to say of the policy; null where it limits spending'),
    per_order_cents: optionalCents('the most that one order may cost, fee included'),
    approve_above_cents: optionalCents('above this a person must approve'),
    limits: listOf(
      record({
        rule: text('where it stands in the policy'),
        applies_to: optionalText('the part of the orders that it is about; null for all'),
        period: text('the day or the month'),
        resets_at: text('ISO 8601'),
        limit_cents: cents('the limit'),
        used_cents: cents('used'),
        left_cents: cents('left'),
      }),
      'limits of a day or a month',
    ),
  }),
  certain: ['wallet', 'rehearsal', 'limits'],
  async run({ context }) {
    const client = await context.client();
    const { body } = await client.call('wallet.get', {});
    const policy = await loadPolicy(context);
    const isRehearsal = context.isRehearsal();
    const isFree = !policy || (isRehearsal && policy.rehearsals === 'exempt');
    const limits = isFree ? [] : await shownUsage(context, policy, { refresh: false, isRehearsal });
    const perOrder = isFree
      ? undefined
      : policy.limits.find(({ kind, scope }) => kind === 'per_order' && !scope);
    return {
      record: {
        wallet: body,
        rehearsal: isRehearsal,
        policy: policy ? (isFree ? 'the policy does not count rehearsals' : null) : noPolicy(context),
        per_order_cents: perOrder?.max ?? null,
        approve_above_cents: isFree ? null : (policy.approveAbove?.max ?? null),
        limits,
      },
    };
  },
});
