import type { MoneyLine, Payer } from '../money-lines.ts';
import { walletAccount } from './entry.ts';

/** Whose money an order was paid with; another currency of the wallet is never mixed with its own. */
export function payerAccount(payer: Payer, currency: string): string {
  if (payer === 'wallet') return currency === 'USD' ? walletAccount : 'Liabilities:Errand:Other-Currency';
  return {
    card: 'Liabilities:Errand:Card',
    connect: 'Liabilities:Errand:Connect',
    retailer_account: 'Liabilities:Errand:Retailer-Account',
    challenge: 'Liabilities:Errand:Challenge',
  }[payer];
}

export const openingAccount = 'Equity:Opening-Balances';

/** What a movement was for. @param retailers whose names the order has. */
export const purposeAccount = (what: MoneyLine['what'], retailers: readonly string[]): string =>
  what === 'fee' ? 'Expenses:Fees:Service' : `Expenses:Purchases:${accountPart(retailers)}`;

/** Where the parts of a price go that are not goods, by the names that `partsOfPrice` gives them. */
export const partAccounts: Readonly<Record<string, string>> = {
  shipping: 'Expenses:Shipping',
  tax: 'Expenses:Tax',
  discount: 'Income:Discounts',
  'fees of the retailer': 'Expenses:Fees:Retailer',
};

const longest = 60;

/** A name as a part of an account that every program takes: `morningroast.example` is `Morningroast-Example`. */
function accountPart(retailers: readonly string[]): string {
  const [only = '', ...others] = retailers;
  if (others.length > 0) return 'Several';
  const words = only
    .normalize('NFKD')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('-');
  return name.slice(0, longest).replace(/-$/, '') || 'Unknown';
}
