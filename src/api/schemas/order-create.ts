import { z } from 'zod';
import { countryProblem } from '../country.ts';
import {
  fulfillmentConcerns,
  fulfillmentModes,
  marginTypes,
  paymentModes,
  productConditions,
} from '../enums.ts';
import { webhookEventNames } from '../events.ts';
import { limits, usPostalCodePattern } from '../limits.ts';
import { unmetRequirements } from '../order-fields.ts';
import {
  httpUrl,
  metadata,
  observed,
  observedOnDemand,
  onDemand,
  plainRequest,
  price,
  productUrl,
  shortText,
} from './fields.ts';

export const ProductVariant = observedOnDemand(() =>
  z.strictObject({ label: z.string(), value: z.string() }),
);

export const OrderProduct = onDemand(() =>
  z.strictObject({
    url: productUrl,
    quantity: observed(z.int().min(limits.quantity.min).default(1)),
    variant: z.array(ProductVariant()).nullish(),
    condition_in: z.array(z.enum(productConditions)).nullish(),
    condition_not_in: z.array(z.enum(productConditions)).nullish(),
  }),
);

const country = onDemand(() =>
  z.string().superRefine((code, context) => {
    const message = countryProblem(code);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  }),
);

const filled = onDemand(() => z.string().trim().min(1, 'Field must not be empty'));

export const Address = onDemand(() =>
  z
    .strictObject({
      first_name: filled(),
      last_name: filled(),
      address_line1: filled(),
      address_line2: observed(z.string().nullish()),
      city: filled(),
      state: z.string().nullish(),
      postal_code: filled(),
      country: country(),
      phone_number: filled(),
    })
    .superRefine((address, context) => {
      if (address.country.toUpperCase() !== 'US' || usPostalCodePattern.test(address.postal_code)) return;
      const message = 'a US postal code has 5 digits, optionally a dash and 4 more';
      context.addIssue({ code: 'custom', path: ['postal_code'], message });
    }),
);

const MarginSpec = observedOnDemand(() =>
  z.strictObject({ type: z.enum(marginTypes), value: z.number().min(0) }),
);

const OrderPayment = observedOnDemand(() =>
  z.strictObject({
    mode: z.enum(paymentModes).default('wallet'),
    payment_method: z.string().nullish(),
    customer: z.string().nullish(),
    margin: MarginSpec().nullish(),
  }),
);

const mode = onDemand(() => z.enum(fulfillmentModes));

export const FulfillmentPreferences = observedOnDemand(() =>
  z.strictObject({
    gift: mode().nullish(),
    items: mode().nullish(),
    quantity: mode().nullish(),
    excluded_merchants: z.array(z.string()).nullish(),
  }),
);

const hookAddresses = onDemand(() => z.union([httpUrl, z.array(httpUrl)]));

/** Webhook URLs per event, for this order only (specification, Events). */
export const Webhooks = observedOnDemand(() =>
  z.strictObject(Object.fromEntries(webhookEventNames.map((name) => [name, hookAddresses().nullish()]))),
);

/** Single-value fields are rows of `plainOrderFields`. This shape adds the other fields. */
export const OrderCreate = onDemand(() =>
  z
    .strictObject({
      products: z.array(OrderProduct()).min(1, 'At least one product is needed'),
      shipping_address: Address(),
      max_price: price,
      idempotency_key: shortText(limits.idempotencyKeyLength.max, z.string().min(1)).nullish(),
      metadata: metadata.nullish(),
      ...plainRequest(),
      payment: OrderPayment().nullish(),
      customer_notifications: observed(z.strictObject({ email: z.email() }).nullish()),
      fulfillment: FulfillmentPreferences().nullish(),
      webhooks: Webhooks().nullish(),
    })
    .superRefine((order, context) => {
      const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
      for (const { name, problem } of unmetRequirements(order)) refuse([name], problem);
      if (order.fulfillment?.gift != null && order.is_gift !== true) {
        refuse(['fulfillment', 'gift'], 'requires is_gift: true');
      }
    }),
);

/**
 * Another notation for the concerns that an order relaxes. Files of users may use it, but requests send the notation
 * with keys.
 */
export const BestEffortNotation = onDemand(() =>
  z.strictObject({
    best_effort: z.array(z.enum(fulfillmentConcerns)),
    excluded_merchants: z.array(z.string()).nullish(),
  }),
);
