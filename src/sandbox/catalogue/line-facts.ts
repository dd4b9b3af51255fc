import type { LineFacts } from '../lifecycle/index.ts';
import type { Listing } from './generate.ts';

/** What an order's life depends on of a listing. */
export const lineFacts = (it: Listing): LineFacts => ({
  retailer: it.retailer,
  productId: it.productId,
  title: it.title,
  priceCents: it.cents,
  currency: it.currency,
  available: it.available,
  giftOption: it.giftOption,
  shippingCents: it.shipCents,
  ...(it.variantLabel !== null && { options: { [it.variantLabel]: it.variantValues } }),
  ...(it.kind === 'marketplace' && { reportsRejections: true }),
});
