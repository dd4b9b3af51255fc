import { readTarget } from '../server/request.ts';
import { routeFinder } from '../server/routes.ts';
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
import { refusalOf } from './form-action.ts';
import { keysPage, mintKeyPage } from './keys.ts';
import { jump, orderPage, triggerEvent, untilDone } from './order.ts';
import { ordersPage } from './orders.ts';
import type { AnyPageRequest, Page } from './page.ts';
import { forThisMachine } from './page.ts';
import { paymentPage, paymentsPage } from './payments.ts';
import { claimPage, devicePage, proofPage, trackingPage } from './public-pages.ts';
import { refilled } from './refill.ts';
import { compareRequests, requestPage, requestsPage } from './requests.ts';
import { requestReturn, returnEvent, returnPage, returnsPage } from './returns.ts';
import { type PageName, pageRoutes } from './routes.ts';
import { searchPage } from './search.ts';
import { placeOrder, productPage, shopPage } from './shop.ts';
import { advanceClock, resetSandbox, restoreSnapshot, saveSnapshot, setSpeed, timePage } from './time.ts';
import { claimKey, emptyWallet, fundWallet, walletPage, walletsPage } from './wallet.ts';

/**
 * Wraps a form handler. If a value is refused, shows the form again with all values, and shows the problem beside the
 * field.
 */
function formOf<N extends PageName>(words: string, page: Page<N>): Page<N> {
  return forThisMachine(
    withDeed(words, async (visit) => {
      const response = await page(visit);
      const refusal = refusalOf(response);
      if (!refusal || visit.request.method !== 'POST') return response;
      const { form, message, back } = refusal;
      const [path = ''] = back.path.split('#');
      const found = findPage('GET', path, true);
      if (!('kind' in found) || found.kind !== 'page') return response;
      const request = { ...visit.request, method: 'GET', target: path, body: new Uint8Array() };
      const origin = await showPage(found.name, { ...visit, request, path: found.path, search: '' });
      if (typeof origin.body !== 'string') return response;
      const action = readTarget(visit.request.target).pathname;
      const body = refilled(origin.body, { action, form, message });
      return body === undefined ? response : { ...origin, status: response.status, body };
    }),
  );
}

const findPage = routeFinder(pageRoutes);

const pages: { readonly [N in PageName]: Page<N> } = {
  console: forThisMachine(dashboardPage),
  consoleSearch: forThisMachine(searchPage),
  consoleOrders: forThisMachine(ordersPage),
  consoleOrder: forThisMachine(orderPage),
  consoleEvent: formOf('Done', triggerEvent),
  consoleUntilDone: formOf('Clock moved until it is done', untilDone),
  consoleJump: formOf('Clock moved', jump),
  consoleReturn: formOf('Return requested', requestReturn),
  consoleRetryBatch: formOf('Failed rows retried', retryBatch),
  consoleAccountEvent: formOf('Done', accountEvent),
  consoleReturnEvent: formOf('Done', returnEvent),
  consoleBatches: forThisMachine(batchesPage),
  consoleBatch: forThisMachine(batchPage),
  consoleReturns: forThisMachine(returnsPage),
  consoleReturnPage: forThisMachine(returnPage),
  consoleAccounts: forThisMachine(accountsPage),
  consoleAccount: forThisMachine(accountPage),
  consolePayments: forThisMachine(paymentsPage),
  consolePayment: forThisMachine(paymentPage),
  consoleDeliveries: forThisMachine(deliveriesPage),
  consoleReplayAll: formOf('Sent again', replayDeliveries),
  consoleCompareDeliveries: forThisMachine(compareDeliveries),
  consoleCompareRequests: forThisMachine(compareRequests),
  consoleReplay: formOf('Sent again', replayDelivery),
  consoleReplayEdited: formOf('Sent, edited', replayEditedPage),
  consoleDelivery: forThisMachine(deliveryPage),
  consoleRequests: forThisMachine(requestsPage),
  consoleRequest: forThisMachine(requestPage),
  consoleTime: forThisMachine(timePage),
  consoleAdvance: formOf('Clock moved', advanceClock),
  consoleSpeed: formOf('Speed set', setSpeed),
  consoleSnapshot: formOf('State kept', saveSnapshot),
  consoleRestore: formOf('State brought back', restoreSnapshot),
  consoleReset: formOf('Sandbox emptied', resetSandbox),
  consoleFaults: forThisMachine(faultsPage),
  consoleFaultOn: formOf('Fault switched on', switchOn),
  consoleFaultOff: formOf('Switched off', switchOff),
  consoleFaultSeed: formOf('Draws begin anew', setSeed),
  consoleKeys: forThisMachine(keysPage),
  consoleMint: formOf('Key minted', mintKeyPage),
  consoleClaim: formOf('Key claimed', claimKey),
  consoleWallets: forThisMachine(walletsPage),
  consoleWallet: forThisMachine(walletPage),
  consoleEmpty: formOf('Money taken out', emptyWallet),
  consoleFund: formOf('Money added', fundWallet),
  consolePlace: formOf('Order placed', placeOrder),
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
