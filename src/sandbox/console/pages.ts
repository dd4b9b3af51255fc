import { accountEvent, accountPage, accountsPage } from './accounts.ts';
import { batchesPage, batchPage, retryBatch } from './batches.ts';
import { dashboardPage } from './dashboard.ts';
import { withDeed } from './deeds.ts';
import {
  compareDeliveries,
  deliveriesPage,
  deliveryPage,
  replayDeliveries,
  replayDelivery,
  replayEditedPage,
} from './deliveries.ts';
import { faultsPage, setSeed, switchOff, switchOn } from './faults.ts';
import { keysPage, mintKeyPage } from './keys.ts';
import { jump, orderPage, triggerEvent, untilDone } from './order.ts';
import { ordersPage } from './orders.ts';
import type { AnyPageRequest, Page } from './page.ts';
import { forThisMachine } from './page.ts';
import { paymentPage, paymentsPage } from './payments.ts';
import { claimPage, devicePage, proofPage, trackingPage } from './public-pages.ts';
import { compareRequests, requestPage, requestsPage } from './requests.ts';
import { requestReturn, returnEvent, returnPage, returnsPage } from './returns.ts';
import type { PageName } from './routes.ts';
import { searchPage } from './search.ts';
import { placeOrder, productPage, shopPage } from './shop.ts';
import { advanceClock, resetSandbox, restoreSnapshot, saveSnapshot, setSpeed, timePage } from './time.ts';
import { claimKey, emptyWallet, fundWallet, walletPage, walletsPage } from './wallet.ts';

const pages: { readonly [N in PageName]: Page<N> } = {
  console: forThisMachine(dashboardPage),
  consoleSearch: forThisMachine(searchPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: forThisMachine(withDeed('Done', triggerEvent)),
  consoleUntilDone: forThisMachine(withDeed('Clock moved until it is done', untilDone)),
  consoleJump: forThisMachine(withDeed('Clock moved', jump)),
  consoleReturn: forThisMachine(withDeed('Return requested', requestReturn)),
  consoleRetryBatch: forThisMachine(withDeed('Failed rows retried', retryBatch)),
  consoleAccountEvent: forThisMachine(withDeed('Done', accountEvent)),
  consoleReturnEvent: forThisMachine(withDeed('Done', returnEvent)),
  consoleBatches: forThisMachine(batchesPage),
  consoleBatch: forThisMachine(batchPage),
  consoleReturns: forThisMachine(returnsPage),
  consoleReturnPage: forThisMachine(returnPage),
  consoleAccounts: forThisMachine(accountsPage),
  consoleAccount: forThisMachine(accountPage),
  consolePayments: forThisMachine(paymentsPage),
  consolePayment: forThisMachine(paymentPage),
  consoleDeliveries: forThisMachine(deliveriesPage),
  consoleReplayAll: forThisMachine(withDeed('Sent again', replayDeliveries)),
  consoleCompareDeliveries: forThisMachine(compareDeliveries),
  consoleCompareRequests: forThisMachine(compareRequests),
  consoleReplay: forThisMachine(withDeed('Sent again', replayDelivery)),
  consoleReplayEdited: forThisMachine(withDeed('Sent, edited', replayEditedPage)),
  consoleDelivery: forThisMachine(deliveryPage),
  consoleRequests: forThisMachine(requestsPage),
  consoleRequest: forThisMachine(requestPage),
  consoleTime: forThisMachine(timePage),
  consoleAdvance: forThisMachine(withDeed('Clock moved', advanceClock)),
  consoleSpeed: forThisMachine(withDeed('Speed set', setSpeed)),
  consoleSnapshot: forThisMachine(withDeed('State kept', saveSnapshot)),
  consoleRestore: forThisMachine(withDeed('State brought back', restoreSnapshot)),
  consoleReset: forThisMachine(withDeed('Sandbox emptied', resetSandbox)),
  consoleFaults: forThisMachine(faultsPage),
  consoleFaultOn: forThisMachine(withDeed('Fault switched on', switchOn)),
  consoleFaultOff: forThisMachine(withDeed('Switched off', switchOff)),
  consoleFaultSeed: forThisMachine(withDeed('Draws begin anew', setSeed)),
  consoleKeys: forThisMachine(keysPage),
  consoleMint: forThisMachine(mintKeyPage),
  consoleClaim: forThisMachine(withDeed('Key claimed', claimKey)),
  consoleWallets: forThisMachine(walletsPage),
  consoleWallet: forThisMachine(walletPage),
  consoleEmpty: forThisMachine(withDeed('Money taken out', emptyWallet)),
  consoleFund: forThisMachine(withDeed('Money added', fundWallet)),
  consolePlace: forThisMachine(withDeed('Order placed', placeOrder)),
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
