import { claimPage } from './claim.ts';
import { replayDelivery, triggerEvent } from './console/actions.ts';
import { deliveriesPage } from './console/deliveries.ts';
import { frontPage } from './console/front.ts';
import { forThisMachine } from './console/guard.ts';
import { keysPage } from './console/keys.ts';
import { orderPage } from './console/order.ts';
import { ordersPage } from './console/orders.ts';
import { requestsPage } from './console/requests.ts';
import { devicePage } from './device.ts';
import type { Page } from './page.ts';
import { proofPage } from './proof.ts';
import { productPage, shopPage } from './shop.ts';
import { trackingPage } from './tracking.ts';

/** Every page for people. */
export const pages = {
  console: forThisMachine(frontPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: forThisMachine(triggerEvent),
  consoleDeliveries: forThisMachine(deliveriesPage),
  consoleReplay: forThisMachine(replayDelivery),
  consoleRequests: forThisMachine(requestsPage),
  consoleKeys: forThisMachine(keysPage),
  claim: claimPage,
  device: devicePage,
  shop: shopPage,
  product: productPage,
  tracking: trackingPage,
  proof: proofPage,
} as const satisfies Readonly<Record<string, Page>>;

export type PageName = keyof typeof pages;
