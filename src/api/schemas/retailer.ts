import { z } from 'zod';
import { checkSupports, retailerSupports, unsupportedReasons } from '../enums.ts';
import { cents, count, observed, observedOnDemand, onDemand, text, timestamp } from './fields.ts';

export const PublicRetailer = onDemand(() =>
  z.strictObject({
    retailer: observed(text),
    retailer_id: observed(text),
    display_name: observed(text),
    base_url: observed(text),
    no_account_needed: z.boolean(),
    use_your_account: z.boolean(),
    supported_countries: observed(z.array(text)),
    free_shipping: observed(z.boolean()),
    free_shipping_threshold_cents: observed(cents.nullable()),
    support: z.enum(retailerSupports),
  }),
);

const CoverageInfo = observedOnDemand(() =>
  z.strictObject({
    policy: text,
    summary: text,
    platforms: z.array(z.strictObject({ platform: text, orderable: z.boolean() })),
  }),
);

export const PublicRetailerListResponse = onDemand(() =>
  z.strictObject({
    retailers: z.array(PublicRetailer()),
    total: observed(count),
    coverage: CoverageInfo(),
  }),
);

export const RetailerCheckResponse = observedOnDemand(() =>
  z.strictObject({
    url: text,
    domain: text,
    orderable: z.boolean(),
    support: z.enum(checkSupports),
    retailer: z
      .strictObject({
        retailer: text,
        brand: text.nullable(),
        display_name: text,
        country: text.nullable(),
      })
      .nullable(),
    platform: text.nullable(),
    checkout: z.strictObject({ guest_checkout: z.boolean(), use_your_account: z.boolean() }).nullable(),
    ships_to: z.array(text),
    evidence: z.strictObject({ orders_placed: z.boolean(), last_order_at: timestamp.nullable() }),
    support_detail: text,
    unsupported_reason: z.enum(unsupportedReasons).nullable(),
    how_to_order: text,
  }),
);
