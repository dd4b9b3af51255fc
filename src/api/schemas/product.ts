import { z } from 'zod';
import { listingTypes, offerConditions, payloadStatuses, searchSorts } from '../enums.ts';
import { limits } from '../limits.ts';
import { cents, count, observed, observedOnDemand, onDemand, price, text } from './fields.ts';

export const Sku = observedOnDemand(() =>
  z.looseObject({
    id: text,
    url: text,
    retailer: text,
    title: text,
    image: text.nullable(),
    brand: text.nullable(),
    price: cents,
    currency_code: text,
    stars: z.number().nullable(),
    num_reviews: count.nullable(),
    available: z.boolean(),
    free_shipping: z.boolean().nullable(),
  }),
);

export const SearchResponse = observedOnDemand(() =>
  z.strictObject({
    status: z.enum(payloadStatuses),
    query: text,
    results: z.array(Sku()),
    excluded_by_price: count.nullable(),
    hint: text.nullable(),
  }),
);

export const ProductSearchResult = observedOnDemand(() =>
  z.looseObject({
    product_id: text,
    title: text,
    image: text.nullable(),
    brand: text.nullable(),
    price: cents,
    currency_code: text,
    stars: z.number().nullish(),
    num_reviews: count.nullish(),
    num_offers_estimate: count.nullable(),
    ship_price: cents.nullable(),
    available: z.boolean(),
    url: text,
    variant_id: text.nullable(),
    addon: z.boolean().nullish().describe('sold only with other items'),
    available_instore: z.boolean().nullish(),
    available_online: z.boolean().nullish(),
    buyapi_hint: z.boolean().nullish().describe('false: it cannot be ordered'),
    first_party_seller: z.boolean().nullish().describe('sold by the retailer itself'),
    freight_shipping: z.boolean().nullish(),
    fresh: z.boolean().nullish(),
    mpn: text.nullish().describe("the manufacturer's part number"),
    num_sales: count.nullish(),
    pantry: z.boolean().nullish(),
    preorder: z.boolean().nullish(),
    prime: z.boolean().nullish(),
    product_details: z.unknown().optional().describe('as the retailer has it'),
    upc: text.nullish(),
  }),
);

export const ProductSearchResponse = onDemand(() =>
  z.strictObject({
    status: observed(z.enum(payloadStatuses)),
    results: observed(z.array(ProductSearchResult())),
    next_page: z.int().nullable(),
  }),
);

const days = onDemand(() => z.strictObject({ min: count, max: count }));

export const Offer = observedOnDemand(() =>
  z.strictObject({
    offer_id: text,
    price: cents,
    condition: z.enum(Object.values(offerConditions)),
    available: z.boolean(),
    seller: z.strictObject({
      id: text,
      name: text,
      num_ratings: count,
      percent_positive: z.number().nullable(),
      first_party: z.boolean(),
    }),
    marketplace_fulfilled: z.boolean(),
    international: z.boolean(),
    minimum_quantity: count,
    handling_days: days(),
    shipping_options: z.array(z.strictObject({ name: text, price: cents, delivery_days: days() })),
  }),
);

/** The retailer's own data, passed through unchanged. Only `status` is guaranteed. */
export const ProductOffersPayload = onDemand(() =>
  z.looseObject({
    status: z.enum(payloadStatuses),
    code: text.optional(),
    message: text.optional(),
    offers: observed(z.array(Offer())).optional(),
    timestamp: observed(z.number()).optional(),
  }),
);

const measure = onDemand(() => z.strictObject({ amount: z.number(), unit: text }));
const specific = onDemand(() => z.strictObject({ dimension: text, value: text }));

const detailFields = onDemand(() => ({
  retailer: text,
  product_id: text,
  timestamp: z.number(),
  title: text,
  product_details: z.array(text),
  feature_bullets: z.array(text),
  brand: text.nullable(),
  main_image: text.nullable(),
  images: z.array(text),
  variant_specifics: z.array(specific()),
  all_variants: z.array(z.strictObject({ variant_specifics: z.array(specific()), product_id: text })),
  categories: z.array(text),
  authors: z.array(text),
  product_description: text.nullable(),
  epids: z.array(z.strictObject({ type: text, value: text })),
  epids_map: z.record(z.string(), text),
  package_dimensions: z.record(z.string(), measure()),
  item_location: text.nullable(),
  item_number: text.nullable(),
  original_retail_price: cents,
  price: cents,
  review_count: count,
  stars: z.number(),
  question_count: count,
  asin: text,
  fresh: z.boolean(),
  pantry: z.boolean(),
  handmade: z.boolean(),
  digital: z.boolean(),
  buyapi_hint: z.boolean(),
}));

const failure = { code: text, message: text };

/** Record of product details in the legacy version (v1). The fields it has depend on the retailer and the status. */
export const LegacyProductDetails = onDemand(() =>
  z.looseObject({
    status: z.enum(payloadStatuses),
    ...z.object({ ...detailFields(), ...failure }).partial().shape,
  }),
);

/** Product details of the current surface. They are the legacy fields, plus the fields of each kind of retailer. */
export const ProductDetailsPayload = onDemand(() =>
  z.looseObject({
    ...LegacyProductDetails().shape,
    url: observed(text).optional(),
    available: z.boolean().optional(),
    currency_code: text.optional(),
    variants: observed(z.array(z.looseObject({}))).optional(),
    sku: text.optional(),
    shop_review_average: z.number().nullish(),
    shop_review_count: count.optional(),
    listing_type: z.enum(listingTypes).optional(),
    shop_is_vacation: z.boolean().optional(),
    has_variations: z.boolean().optional(),
    taxonomy_id: z.int().optional(),
  }),
);

/**
 * Terms of the calls for agent data, in a body. The operation table lists the same terms for the query, with required
 * flags and rules.
 */
export const AgentSearchRequest = observedOnDemand(() =>
  z.strictObject({
    q: z.string().min(1).nullish(),
    min_price: price.nullish(),
    max_price: price.nullish(),
    limit: z.int().min(limits.searchLimit.min).max(limits.searchLimit.max).nullish(),
    retailer: z.string().min(1).nullish(),
    sort: z.enum(searchSorts).nullish(),
  }),
);

export const AgentProductSearchRequest = observedOnDemand(() =>
  z.strictObject({
    query: z.string().min(1).nullish(),
    retailer: z.string().min(1).nullish(),
    page: z.int().min(1).nullish(),
    free_shipping: z.boolean().nullish(),
  }),
);

export const AgentProductRequest = observedOnDemand(() =>
  z.strictObject({
    product_id: z.string().min(1).nullish(),
    retailer: z.string().min(1).nullish(),
    max_age: z.number().min(limits.maxAgeSeconds.min).nullish(),
    newer_than: z.int().nullish(),
    async: z.boolean().nullish(),
  }),
);
