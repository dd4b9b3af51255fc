export type Payer = 'wallet' | 'card' | 'connect' | 'retailer_account' | 'challenge';

export interface MoneyLine {
  readonly what: 'hold' | 'charge' | 'fee' | 'refund' | 'credit';
  /** With its sign. */
  readonly cents: number;
  /** ISO 4217 in capitals, or what the service calls it. */
  readonly currency: string;
  /** Who pays it or gets it back. */
  readonly payer: Payer;
  /** `by_rule`: the service shows no such amount; it follows from how the service works. */
  readonly basis: 'observed' | 'by_rule';
  /** In words, for a person. */
  readonly note: string;
  /** The return that it belongs to. */
  readonly returnId?: string;
}

export interface MoneySum {
  readonly payer: Payer;
  readonly currency: string;
  readonly held: number;
  readonly charged: number;
  readonly fee: number;
  /** What came back of the charge, positive. */
  readonly refunded: number;
  /** What returns brought, positive. */
  readonly credited: number;
  /** What it cost in the end: charged and fee less refunded and credited. */
  readonly net: number;
}

export interface MoneyDue {
  readonly what: 'refund' | 'credit';
  /** Undefined where the service does not say how much. */
  readonly cents: number | undefined;
  readonly currency: string;
  readonly payer: Payer;
  readonly note: string;
  readonly returnId?: string;
}

/** Lines added up, for each payer and currency. Pure. */
export function sumsOf(lines: readonly MoneyLine[]): MoneySum[] {
  const groups = new Map<string, MoneyLine[]>();
  for (const line of lines) {
    const key = `${line.payer} ${line.currency}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const of = (what: MoneyLine['what']): number =>
      group.reduce((sum, line) => sum + (line.what === what ? line.cents : 0), 0);
    const [charged, fee, refunded, credited] = [of('charge'), of('fee'), 0 - of('refund'), 0 - of('credit')];
    const net = charged + fee - refunded - credited;
    return first
      ? [
          {
            payer: first.payer,
            currency: first.currency,
            held: of('hold'),
            charged,
            fee,
            refunded,
            credited,
            net,
          },
        ]
      : [];
  });
}
