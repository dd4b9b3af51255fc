import { accountPage } from '../account.ts';
import { accountEvent } from '../account-actions.ts';
import { accountsPage } from '../accounts.ts';
import { advanceClock } from '../advance.ts';
import { batchPage } from '../batch.ts';
import { retryBatch } from '../batch-actions.ts';
import { batchesPage } from '../batches.ts';
import { deliveriesPage } from '../deliveries.ts';
import { deliveryPage } from '../delivery.ts';
import { faultsPage, setSeed, switchOff, switchOn } from '../faults.ts';
import { frontPage } from '../front.ts';
import { forThisMachine } from '../guard.ts';
import { keysPage } from '../keys.ts';
import { mintKeyPage } from '../mint.ts';
import { orderPage } from '../order.ts';
import { triggerEvent, untilDone } from '../order-actions.ts';
import { placeOrder } from '../order-form.ts';
import { ordersPage } from '../orders.ts';
import { paymentPage } from '../payment.ts';
import { paymentsPage } from '../payments.ts';
import { claimPage, proofPage, trackingPage } from '../public-pages.ts';
import { replayDelivery } from '../replay.ts';
import { replayEditedPage } from '../replay-edited.ts';
import { requestPage } from '../request.ts';
import { requestsPage } from '../requests.ts';
import { returnPage } from '../return.ts';
import { returnsPage } from '../returns.ts';
import { requestReturn, returnEvent } from '../returns-of-order.ts';
import { productPage, shopPage } from '../shop.ts';
import { keepSnapshot, resetSandbox, restoreSnapshot, setSpeed, timePage } from '../time.ts';
import { claimKey, walletPage } from '../wallet.ts';
import { emptyWallet, fundWallet } from '../wallet-money.ts';
import { devicePage } from './device.ts';
import type { AnyPageRequest, Page } from './page.ts';
import type { PageName } from './routes.ts';

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
