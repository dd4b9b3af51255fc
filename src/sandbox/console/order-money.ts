import { type Content, html } from '../../platform/html.ts';
import type { StoredOrder } from '../orders/records.ts';
import type { Store } from '../store/store.ts';
import { type Entry, entriesOf } from '../wallet/ledger.ts';
import type { LedgerKind } from '../wallet/wallet.ts';
import { walletPath } from './console-paths.ts';
import { ledgerWords, signed } from './ledger-words.ts';
import { dateTime, money } from './pages/figures.ts';

/** What an order moved in its wallet, what it came to in the end, and what is still held for it. */
export function orderMoney(store: Store, { record, userId, reserved }: StoredOrder): Content {
  const entries = entriesOf(store, record.id);
  if (entries.length === 0 && reserved === 0)
    return html`<p class="soft">The wallet paid nothing for it.</p>${walletLink(userId)}`;
  return html`<table class="sum"><tbody>${entries.map(
    ({ at, kind, cents }) =>
      html`<tr><th scope="row">${ledgerWords[kind]} <small><time>${dateTime(at)}</time></small></th><td class="fit number">${signed(cents)}</td></tr>`,
  )}${
    reserved > 0 &&
    html`<tr><th scope="row">Held until it is placed or fails: the ceiling and the fee</th><td class="fit number">${signed(-reserved)}</td></tr>`
  }${entries.length > 0 && outcome(entries)}</tbody></table>${walletLink(userId)}`;
}

/** What left the wallet, and what came back into it. */
const back: readonly LedgerKind[] = ['refund', 'credit', 'payout'];

/** The sum of all: what was kept of the payer's money. What a payer by challenge paid in is no cost by itself. */
function outcome(entries: readonly Entry[]): Content {
  const kept = -entries
    .filter(({ kind }) => kind !== 'payment' && kind !== 'payout')
    .reduce((sum, { cents }) => sum + cents, 0);
  const fee = -entries.filter(({ kind }) => kind === 'fee').reduce((sum, { cents }) => sum + cents, 0);
  const isBack = entries.some(({ kind }) => back.includes(kind));
  const name = isBack ? 'Kept in the end' : 'Paid in all';
  return html`<tr class="total"><th scope="row">${name}${isBack && kept > 0 && kept === fee && ', the fee'}</th><td class="fit number">${money(kept)}</td></tr>`;
}

const walletLink = (userId: string): Content =>
  html`<p><a href="${walletPath(userId)}">The wallet that pays</a></p>`;
