import { accountEvent, accountPage, accountsPage } from './accounts.ts';
import { batchesPage, batchPage, retryBatch } from './batches.ts';
import { dashboardPage } from './dashboard.ts';
import { deliveriesPage, deliveryPage, replayDelivery, replayEditedPage } from './deliveries.ts';
import { faultsPage, setSeed, switchOff, switchOn } from './faults.ts';
import { keysPage, mintKeyPage } from './keys.ts';
import { jump, orderPage, triggerEvent, untilDone } from './order.ts';
import { ordersPage } from './orders.ts';
import type { AnyPageRequest, Page } from './page.ts';
import { forThisMachine } from './page.ts';
import { paymentPage, paymentsPage } from './payments.ts';
import { claimPage, devicePage, proofPage, trackingPage } from './public-pages.ts';
import { requestPage, requestsPage } from './requests.ts';
import { requestReturn, returnEvent, returnPage, returnsPage } from './returns.ts';
import type { PageName } from './routes.ts';
import { placeOrder, productPage, shopPage } from './shop.ts';
import { advanceClock, resetSandbox, restoreSnapshot, saveSnapshot, setSpeed, timePage } from './time.ts';
import { claimKey, emptyWallet, fundWallet, walletPage } from './wallet.ts';

const pages: { readonly [N in PageName]: Page<N> } = {
  console: forThisMachine(dashboardPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: forThisMachine(triggerEvent),
  consoleUntilDone: forThisMachine(untilDone),
  consoleJump: forThisMachine(jump),
  consoleReturn: forThisMachine(requestReturn),
  consoleRetryBatch: forThisMachine(retryBatch),
  consoleAccountEvent: forThisMachine(accountEvent),
  consoleReturnEvent: forThisMachine(returnEvent),
  consoleBatches: forThisMachine(batchesPage),
  consoleBatch: forThisMachine(batchPage),
  consoleReturns: forThisMachine(returnsPage),
  consoleReturnPage: forThisMachine(returnPage),
  consoleAccounts: forThisMachine(accountsPage),
  consoleAccount: forThisMachine(accountPage),
  consolePayments: forThisMachine(paymentsPage),
  consolePayment: forThisMachine(paymentPage),
  consoleDeliveries: forThisMachine(deliveriesPage),
  consoleReplay: forThisMachine(replayDelivery),
  consoleReplayEdited: forThisMachine(replayEditedPage),
  consoleDelivery: forThisMachine(deliveryPage),
  consoleRequests: forThisMachine(requestsPage),
  consoleRequest: forThisMachine(requestPage),
  consoleTime: forThisMachine(timePage),
  consoleAdvance: forThisMachine(advanceClock),
  consoleSpeed: forThisMachine(setSpeed),
  consoleSnapshot: forThisMachine(saveSnapshot),
  consoleRestore: forThisMachine(restoreSnapshot),
  consoleReset: forThisMachine(resetSandbox),
  consoleFaults: forThisMachine(faultsPage),
  consoleFaultOn: forThisMachine(switchOn),
  consoleFaultOff: forThisMachine(switchOff),
  consoleFaultSeed: forThisMachine(setSeed),
  consoleKeys: forThisMachine(keysPage),
  consoleMint: forThisMachine(mintKeyPage),
  consoleClaim: forThisMachine(claimKey),
  consoleWallet: forThisMachine(walletPage),
  consoleEmpty: forThisMachine(emptyWallet),
  consoleFund: forThisMachine(fundWallet),
  consolePlace: forThisMachine(placeOrder),
  claim: claimPage,
  device: devicePage,
  shop: shopPage,
  product: productPage,
  tracking: trackingPage,
  proof: proofPage,
};

/** Renders a page by name. @throws Refusal, DatabaseError. */
export function showPage(name: PageName, request: AnyPageRequest): ReturnType<Page<PageName>> {
  // The route table pairs each page with its own path parameters.
  const page = pages[name] as (request: AnyPageRequest) => ReturnType<Page<PageName>>;
  return page(request);
}
