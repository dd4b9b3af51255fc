import { claimPage } from './claim.ts';
import { accountPage } from './console/account.ts';
import { accountEvent } from './console/account-actions.ts';
import { accountsPage } from './console/accounts.ts';
import { advanceClock } from './console/advance.ts';
import { batchPage } from './console/batch.ts';
import { retryBatch } from './console/batch-actions.ts';
import { batchesPage } from './console/batches.ts';
import { deliveriesPage } from './console/deliveries.ts';
import { deliveryPage } from './console/delivery.ts';
import { faultsPage, setSeed, switchOff, switchOn } from './console/faults.ts';
import { frontPage } from './console/front.ts';
import { forThisMachine } from './console/guard.ts';
import { keysPage } from './console/keys.ts';
import { mintKeyPage } from './console/mint.ts';
import { orderPage } from './console/order.ts';
import { triggerEvent, untilDone } from './console/order-actions.ts';
import { placeOrder } from './console/order-form.ts';
import { ordersPage } from './console/orders.ts';
import { paymentPage } from './console/payment.ts';
import { paymentsPage } from './console/payments.ts';
import { replayDelivery } from './console/replay.ts';
import { replayEditedPage } from './console/replay-edited.ts';
import { requestPage } from './console/request.ts';
import { requestsPage } from './console/requests.ts';
import { returnPage } from './console/return.ts';
import { returnsPage } from './console/returns.ts';
import { requestReturn, returnEvent } from './console/returns-of-order.ts';
import { keepSnapshot, resetSandbox, restoreSnapshot, setSpeed, timePage } from './console/time.ts';
import { claimKey, walletPage } from './console/wallet.ts';
import { emptyWallet, fundWallet } from './console/wallet-money.ts';
import { devicePage } from './device.ts';
import type { AnyPageRequest, Page } from './page.ts';
import { proofPage } from './proof.ts';
import type { PageName } from './routes.ts';
import { productPage, shopPage } from './shop.ts';
import { trackingPage } from './tracking.ts';

const pages: { readonly [N in PageName]: Page<N> } = {
  console: forThisMachine(frontPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: forThisMachine(triggerEvent),
  consoleUntilDone: forThisMachine(untilDone),
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
  consoleSnapshot: forThisMachine(keepSnapshot),
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

/** The page of a name. @throws Refusal, DatabaseError. */
export function showPage(name: PageName, request: AnyPageRequest): ReturnType<Page<PageName>> {
  // The routes pair each name with the parameters of its path.
  const page = pages[name] as (request: AnyPageRequest) => ReturnType<Page<PageName>>;
  return page(request);
}
