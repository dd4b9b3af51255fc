import type { Shape } from '../../api/schemas/index.ts';

/** An order that succeeds, without a key of its own. @param shopUrl where the test products are. */
export const exampleOrder = (shopUrl: string): Shape<'OrderCreate'> => ({
  products: [{ url: `${shopUrl}/test-success`, quantity: 1 }],
  shipping_address: {
    first_name: 'Ada',
    last_name: 'Example',
    address_line1: '100 Congress Avenue',
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
    country: 'US',
    phone_number: '5125550100',
  },
  max_price: 5_000,
});
