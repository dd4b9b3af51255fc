import { formatMoney } from '../../format/money.ts';
import { shellLine } from '../../platform/shell.ts';
import { type MoneySum, sumsOf } from '../money-lines.ts';
import { moneyOf, type OrderMoney } from '../money-of-order.ts';
import { type Finding, findingsOf, repeatedLater } from './findings.ts';
import { type Facts, feeOf } from './gather.ts';
import { walletMoves } from './wallet-moves.ts';

/** Result of a reconciliation. Amounts are in the currency's minor unit. */
export interface Reconciliation {
  readonly agrees: boolean;
  readonly service: string;
  /** ISO 8601. */
  readonly since: string;
  /** Number of this machine's orders that were compared. The field after this one counts those with an unknown cost. */
  readonly orders: number;
  readonly incomplete: number;
  /** What the orders of this machine hold and cost, by payer. */
  readonly sums: readonly MoneySum[];
  /** Orders of the account that this machine did not create. */
  readonly elsewhere: { readonly orders: number; readonly sums: readonly MoneySum[] };
  readonly wallet: {
    readonly balance: number | null;
    readonly spendable: number | null;
    /**
     * Amount that the wallet has set aside. The two fields after this one are the amount that open orders hold by rule,
     * and the difference between the two.
     */
    readonly set_aside: number | null;
    readonly held_by_rule: number;
    readonly difference: number | null;
    /** When the balance used for the comparison was recorded, ISO 8601. Null the first time. */
    readonly compared_with: string | null;
    /**
     * The expected balance: the recorded balance, changed by the orders since then. The field after this one is the
     * amount by which the actual balance is higher.
     */
    readonly expected: number | null;
    readonly unexplained: number | null;
  };
  readonly audit: { readonly records: number; readonly intact: boolean };
  readonly findings: readonly Finding[];
  /** Remarks that are reported but are not findings. */
  readonly notes: readonly string[];
}

/** Maximum number of orders made elsewhere for which there is a separate finding. */
const maxElsewhere = 20;

/** Compares the facts. Pure. @param isExclusive tells whether nobody else uses the account. */
export function reconcile(facts: Facts, isExclusive: boolean): Reconciliation {
  const money = new Map<string, OrderMoney>();
  const fees = new Map(
    facts.reservations.flatMap(({ orderId, feeCents }) => (orderId ? [[orderId, feeCents]] : [])),
  );
  for (const [id, order] of facts.orders) {
    const intent = facts.own.get(id);
    money.set(
      id,
      moneyOf(order, { feeCents: fees.get(id) ?? feeOf(intent, facts.wallet), paid: intent?.paid }),
    );
  }
  const ours = [...money].filter(([id]) => facts.own.has(id)).map(([, one]) => one);
  const others = [...money].filter(([id]) => !facts.own.has(id) && !facts.doubted.has(id));
  const sums = sumsOf(ours.flatMap(({ lines }) => lines));
  const otherSums = sumsOf(others.flatMap(([, { lines }]) => lines));
  const wallet = walletPart(facts);
  const findings = [
    ...findingsOf(facts, money),
    ...(isExclusive
      ? exclusive(
          others.map(([id]) => id),
          wallet,
        )
      : []),
  ];
  return {
    ...{ agrees: findings.length === 0, service: facts.service, since: facts.since },
    orders: ours.length,
    incomplete: ours.filter(({ isComplete }) => !isComplete).length,
    sums,
    elsewhere: { orders: others.length, sums: otherSums },
    wallet,
    audit: { records: facts.chain.check.count, intact: facts.chain.check.findings.length === 0 },
    findings,
    notes: notesOf(facts, wallet, others.length, isExclusive),
  };
}

function walletPart({ wallet, balance: read, made }: Facts): Reconciliation['wallet'] {
  const moves = walletMoves(read, made);
  const { balance, spendable, setAside, heldByRule } = wallet;
  return {
    balance: balance ?? null,
    spendable: spendable ?? null,
    set_aside: setAside ?? null,
    held_by_rule: heldByRule,
    difference: setAside === undefined ? null : setAside - heldByRule,
    compared_with: moves && read.before ? new Date(read.before.at).toISOString() : null,
    expected: moves?.expected ?? null,
    unexplained: moves?.difference ?? null,
  };
}

function exclusive(others: readonly string[], wallet: Reconciliation['wallet']): Finding[] {
  const { difference, unexplained } = wallet;
  const found = others.slice(0, maxElsewhere).map(
    (id): Finding => ({
      ...{ finding: 'made_elsewhere', order_id: id, key: null, cents: null },
      message: `${id} was not made by this machine`,
      command: shellLine`errand order explain ${id}`,
    }),
  );
  const words = balanceWords(wallet);
  if (words !== undefined)
    found.push({
      ...{ finding: 'balance', order_id: null, key: null, cents: unexplained },
      message: words,
      command: 'errand audit log --kind wallet',
    });
  if (difference === null || difference === 0) return found;
  return [
    ...found,
    {
      ...{ finding: 'set_aside', order_id: null, key: null, cents: difference },
      message: `the wallet sets ${formatMoney(difference)} more aside than its open orders hold by rule`,
      command: 'errand order list --status waiting --all',
    },
  ];
}

/**
 * Describes how the balance differs from the expected balance, which follows from the last recorded balance and the
 * orders since then. Undefined if there is no difference.
 */
function balanceWords({ balance, compared_with: at, expected, unexplained }: Reconciliation['wallet']) {
  if (balance === null || expected === null || unexplained === null || unexplained === 0) return undefined;
  const much = `${formatMoney(Math.abs(unexplained))} ${unexplained > 0 ? 'more' : 'less'}`;
  return `the wallet holds ${much} than its orders explain since ${at}: ${formatMoney(expected + unexplained)} in place of ${formatMoney(expected)}`;
}

function notesOf(
  facts: Facts,
  wallet: Reconciliation['wallet'],
  others: number,
  isExclusive: boolean,
): string[] {
  const { difference } = wallet;
  const moved = isExclusive ? undefined : balanceWords(wallet);
  return [
    ...(moved === undefined ? [] : [moved]),
    ...(facts.balance.isSteady ? [] : ['the balance moves all the time, and was not compared']),
    ...(others > 0
      ? [
          `${others === 1 ? '1 order of the account was' : `${others} orders of the account were`} not made by this machine`,
        ]
      : []),
    ...(difference !== null && difference !== 0
      ? [`the wallet sets ${formatMoney(difference)} more aside than its open orders hold by rule`]
      : []),
    ...repeatedLater(facts),
    ...(facts.atWork > 0 ? [`${facts.atWork} are being sent at this moment`] : []),
    ...(facts.elsewhere > 0
      ? [
          `${facts.elsewhere} more are open at other services, or were sent with another key: errand order journal list`,
        ]
      : []),
    ...(facts.unread > 0
      ? [`${facts.unread} orders were not read: compare a shorter time with --since`]
      : []),
  ];
}
