/** Which orders a limit is about; all of its parts must hold. */
export interface Scope {
  /** A retailer's name, or its host. */
  readonly retailer?: string;
  /** Top-level metadata of the order. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What limits can be set, for all orders or a part of them; every one of them counts ceiling and fee, but the last. */
export const limitKinds = ['per_order', 'per_day', 'per_month', 'per_batch', 'quantity_per_line'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** Where a rule stands in its file: `limits.per_day`, `per[2].per_month`. */
export interface Rule {
  readonly rule: string;
  readonly line: number;
}

export interface Limit extends Rule {
  readonly kind: LimitKind;
  /** Cents; a count for `quantity_per_line`. */
  readonly most: number;
  /** Undefined for all orders. */
  readonly scope: Scope | undefined;
}

/** Names that alone are allowed, or that are denied. */
export interface NameRule extends Rule {
  readonly kind: 'allow' | 'deny';
  readonly names: readonly string[];
}

export const sameThings = ['product', 'address'] as const;
export const duplicateActions = ['warn', 'approve', 'refuse'] as const;

/** Orders that look like an earlier one. */
export interface DuplicateRule extends Rule {
  readonly same: readonly (typeof sameThings)[number][];
  readonly withinMs: number;
  readonly action: (typeof duplicateActions)[number];
}

/** A file of public keys, relative to the policy. */
export interface ApproverFile extends Rule {
  readonly name: string;
}

/** What may be spent, as a policy file says it. */
export interface Policy {
  /** Its path; of one that was published, what messages call it. */
  readonly file: string;
  /** IANA name; days and months begin there. */
  readonly timeZone: string;
  /** Whether test keys and the embedded sandbox fall under it. */
  readonly rehearsals: 'count' | 'exempt';
  /** Whether whoever sits at a terminal may overrule it. */
  readonly overrides: 'terminal' | 'never';
  readonly limits: readonly Limit[];
  readonly retailers: NameRule | undefined;
  /** Two capitals each. */
  readonly countries: NameRule | undefined;
  /** Globs over whole URLs. */
  readonly urls: NameRule | undefined;
  readonly duplicates: DuplicateRule | undefined;
  /** Above this, in cents, a person must say yes. */
  readonly approveAbove: (Rule & { readonly most: number }) | undefined;
  /** How long an approval can be used, from when it was asked for, ms. */
  readonly approvalMs: number;
  /** Files of public keys whose owners may approve, as they are written. */
  readonly approvers: readonly ApproverFile[];
  /** What stands in these files, where the policy was published with them. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** `limits.per_day` of one part of the orders, in words; undefined for all of them. */
export function scopeText(scope: Scope | undefined): string | undefined {
  if (!scope) return undefined;
  const metadata = Object.entries(scope.metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  return [...(scope.retailer === undefined ? [] : [scope.retailer]), ...metadata].join(', ');
}
