import { numberIn, textIn } from '../../api/json.ts';
import type { Client } from '../../http/client.ts';
import type { QueryOf } from '../../http/client-types.ts';
import { pages } from '../../http/paging.ts';
import { moneyOf } from '../money-of-order.ts';
import { centsIn } from '../price-of-order.ts';
import type { FoundOrder } from './gather.ts';
import type { WalletRead } from './wallet-moves.ts';

export interface WalletPart {
  readonly balance: number | undefined;
  readonly spendable: number | undefined;
  readonly feeCents: number | undefined;
  /** What is not spendable of the balance. */
  readonly setAside: number | undefined;
  /** What all open orders of the account hold, by rule. */
  readonly heldByRule: number;
}

/** Times that the orders are read until the balance did not move meanwhile. */
const mostReads = 3;

/** The orders since a time, and the balance that belongs to them: it is the same before and after they are read. */
export async function readBalance(
  client: Client,
  sinceMs: number,
): Promise<Omit<WalletRead, 'before' | 'from'>> {
  const query = { created_after: new Date(sinceMs).toISOString() };
  let before = await walletOf(client);
  for (let left = mostReads; ; left -= 1) {
    const orders = await listed(client, query);
    const after = await walletOf(client);
    const isSteady = after.balance === before.balance;
    if (isSteady || left === 1) return { ...after, isSteady, orders };
    before = after;
  }
}

async function walletOf(client: Client): Promise<Pick<WalletRead, 'balance' | 'spendable' | 'fee'>> {
  const { body } = await client.call('wallet.get', {});
  const cents = (name: string): number | undefined => {
    const found = numberIn(body, name);
    return Number.isSafeInteger(found) ? found : undefined;
  };
  return {
    balance: cents('balance'),
    spendable: cents('spendable_balance'),
    fee: centsIn(body, 'order_fee_cents'),
  };
}

/** The wallet, and the orders that hold something of it; once more where an order may have moved on between the two. */
export async function readWallet(client: Client): Promise<WalletPart> {
  let part = await walletNow(client);
  if (part.balance !== undefined && part.setAside !== part.heldByRule) part = await walletNow(client);
  return part;
}

async function walletNow(client: Client): Promise<WalletPart> {
  const waiting = await listed(client, { status_filter: 'pending' });
  const working = await listed(client, { status_filter: 'in_progress' });
  const { balance, spendable, fee: feeCents } = await walletOf(client);
  const heldByRule = [...waiting, ...working]
    .flatMap(([, order]) => moneyOf(order, { feeCents }).sums)
    .reduce((sum, { payer, held }) => sum + (payer === 'wallet' ? held : 0), 0);
  const setAside = balance === undefined || spendable === undefined ? undefined : balance - spendable;
  return { balance, spendable, feeCents, setAside, heldByRule };
}

async function listed(client: Client, query: QueryOf<'order.list'>): Promise<Map<string, FoundOrder>> {
  const orders = new Map<string, FoundOrder>();
  for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
    for (const row of rows) {
      const id = textIn(row, 'id');
      if (id !== undefined) orders.set(id, { ...row, id });
    }
  return orders;
}
