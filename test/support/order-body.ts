/** Shipping address for test orders. */
export const address = {
  first_name: 'Ada',
  last_name: 'Byron',
  address_line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postal_code: '78701',
  country: 'US',
  phone_number: '5125550100',
};

/** An order of one product. */
export const orderBody = (url: string) => ({
  products: [{ url }],
  shipping_address: address,
  max_price: 5000,
});

/** A batch row with the columns of a CSV file. */
export const rowBody = (product_url: string) => ({
  product_url,
  max_price: '4000',
  name: 'Ada Byron',
  address_line1: address.address_line1,
  city: address.city,
  state: address.state,
  postal_code: address.postal_code,
  phone_number: address.phone_number,
});
