import { type Content, html } from '../../platform/html.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { empty, fund } from '../wallet/wallet.ts';
import { walletPath } from './console-paths.ts';
import { centsIn, formAction, onceField, onceIn, seeOther, type WayBack } from './form-action.ts';
import { sameFromTerminal } from './same-from-terminal.ts';
import { triggerCall } from './trigger-call.ts';

export const hasWallet = ({ store }: Service, userId: string): boolean =>
  store.get('SELECT 1 FROM wallets WHERE user_id = ?', userId) !== undefined;

/** What puts money into a user's wallet, and what takes it. */
export function moneyForms({ config }: Service, userId: string): Content {
  const fields = { amount: 10_000 };
  return html`<form method="post" action="${walletPath(userId)}/fund" class="inline">${onceField()}
<label>Amount in dollars<input name="amount" inputmode="decimal" required value="100.00" autocomplete="off"></label>
<button>Add money</button></form>
<form method="post" action="${walletPath(userId)}/empty" class="inline"><button title="all that no order has set aside">Take all that is there</button></form>${sameFromTerminal(
    config,
    'same-fund',
    [
      triggerCall(config, { event: 'wallet-funded', fields, options: ['--amount', '100.00'] }),
      triggerCall(config, { event: 'wallet-emptied' }),
    ],
    'With a key of this wallet in ERRAND_API_KEY.',
  )}`;
}

const backToWallet = ({ path: { id } }: { readonly path: { readonly id: string } }): WayBack => ({
  path: walletPath(id),
  text: 'Back to the wallet',
});

function checkWallet(service: Service, userId: string): void {
  if (!hasWallet(service, userId)) throw new Refusal('not_found', 'No wallet is here.');
}

/** Adds money; once for each form that was shown. */
export const fundWallet = formAction<'consoleFund'>(backToWallet, async ({ service, path: { id } }, form) => {
  const { store, clock } = service;
  checkWallet(service, id);
  const once = onceIn(form);
  const cents = centsIn(form, 'amount', 'Amount');
  await store.transaction(() => fund(store, id, cents, clock.now(), once));
  return seeOther(walletPath(id));
});

/** Takes all that no order has set aside, so that a wallet without money can be rehearsed. */
export const emptyWallet = formAction<'consoleEmpty'>(backToWallet, async ({ service, path: { id } }) => {
  const { store, clock } = service;
  checkWallet(service, id);
  await store.transaction(() => empty(store, id, clock.now()));
  return seeOther(walletPath(id));
});
