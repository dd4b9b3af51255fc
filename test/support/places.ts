import type { TestService } from './service.ts';

interface Placed {
  readonly shipping_address: { readonly address_line1: string };
}

/** Street of every order at the service, once its batches have been placed. */
export async function placesOf(service: TestService): Promise<string[]> {
  for (let minutes = 0; minutes < 3; minutes += 1) {
    service.pass(60_000);
    await service.send('GET', '/orders/bulk');
  }
  const orders: Placed[] = (await service.send('GET', '/orders?limit=500')).body.orders;
  return orders.map((order) => order.shipping_address.address_line1);
}
