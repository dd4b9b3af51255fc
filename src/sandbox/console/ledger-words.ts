import type { LedgerKind } from '../wallet/wallet.ts';

/** What each kind of change is called on the pages, in the order in which they are added up. */
export const ledgerWords: Readonly<Record<LedgerKind, string>> = {
  opening: 'Opening balance',
  funding: 'Added',
  withdrawal: 'Taken out',
  payment: 'Paid by challenge',
  purchase: 'Charged',
  fee: 'Fee',
  refund: 'Refunded',
  credit: 'Credited for returns',
  reversal: 'Credit taken back',
  payout: 'Paid back to the payer',
};

/** The kinds in the order of the table. */
export const ledgerKinds = Object.keys(ledgerWords) as readonly LedgerKind[];

/** `-1999` as `-$19.99`, `1999` as `+$19.99`. */
export const signed = (cents: number): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', signDisplay: 'exceptZero' }).format(
    cents / 100,
  );
