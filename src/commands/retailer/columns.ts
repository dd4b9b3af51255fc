import type { Shape } from '../../api/schemas/index.ts';
import { joinedText } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';

export const retailerColumns: readonly Column<Shape<'PublicRetailer'>>[] = [
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 10 },
  { name: 'name', path: 'display_name', weight: 9 },
  {
    name: 'countries',
    path: 'supported_countries',
    weight: 8,
    value: ({ supported_countries }) => joinedText(supported_countries),
  },
  { name: 'support', path: 'support', kind: 'status', weight: 7 },
  { name: 'no account needed', path: 'no_account_needed', kind: 'flag', weight: 6 },
  { name: 'your account', path: 'use_your_account', kind: 'flag', weight: 5 },
  { name: 'free shipping from', path: 'free_shipping_threshold_cents', kind: 'money', weight: 2 },
  { name: 'address', path: 'base_url', kind: 'url', weight: 3 },
];

export const checkColumns: readonly Column<Shape<'RetailerCheckResponse'>>[] = [
  { name: 'orderable', path: 'orderable', kind: 'flag', weight: 10 },
  { name: 'why not', path: 'unsupported_reason', weight: 9 },
  { name: 'retailer', path: 'retailer.display_name', weight: 8 },
  { name: 'domain', path: 'domain', weight: 7 },
  { name: 'support', path: 'support', kind: 'status', weight: 6 },
  { name: 'ships to', path: 'ships_to', weight: 5, value: ({ ships_to }) => joinedText(ships_to) },
  { name: 'guest checkout', path: 'checkout.guest_checkout', kind: 'flag', weight: 4 },
  { name: 'your account', path: 'checkout.use_your_account', kind: 'flag', weight: 4 },
  { name: 'how to order', path: 'how_to_order', weight: 3 },
  { name: 'detail', path: 'support_detail', weight: 2 },
  { name: 'url', path: 'url', weight: 1 },
];
