import { domainToUnicode } from 'node:url';
import { isUrl, ofLastUrl, parseUrl, unescapedTwice } from '../../platform/net/urls.ts';

/** The orders to which a limit applies. An order must match all fields. */
export interface Scope {
  /** A retailer's name or host. */
  readonly retailer?: string;
  /** Top-level metadata that the order must have. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * The kinds of limits. A limit applies to all orders or to some of them. Every kind except the last limits the sum of
 * ceiling and fee.
 */
export const limitKinds = ['per_order', 'per_day', 'per_month', 'per_batch', 'quantity_per_line'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A rule and its position in the file, such as `limits.per_day` or `per[2].per_month`. */
export interface Rule {
  readonly rule: string;
  readonly line: number;
}

export interface Limit extends Rule {
  readonly kind: LimitKind;
  /** Maximum in cents, or a count for `quantity_per_line`. */
  readonly max: number;
  /** The orders to which the limit applies. Undefined if it applies to all orders. */
  readonly scope: Scope | undefined;
}

/** Names that are denied, or names that are the only ones allowed. */
export interface NameRule extends Rule {
  readonly kind: 'allow' | 'deny';
  readonly names: readonly string[];
}

export const sameFields = ['product', 'address'] as const;
export const duplicateActions = ['warn', 'approve', 'refuse'] as const;

/** Name of the rule for orders that look like an earlier order. */
export const duplicatesRule = 'duplicates';

/** Rule for orders that look like an earlier order. */
interface DuplicateRule extends Rule {
  readonly same: readonly (typeof sameFields)[number][];
  readonly withinMs: number;
  readonly action: (typeof duplicateActions)[number];
}

/** A file of public keys. Its path is relative to the policy. */
export interface ApproverFile extends Rule {
  readonly name: string;
}

/** What may be spent, as a policy file states it. */
export interface Policy {
  /** Path of the policy file. For a published policy, the name that messages use for it. */
  readonly file: string;
  /** IANA name of the time zone in which days and months begin. */
  readonly timeZone: string;
  /** Whether the policy also applies to orders with test keys and in the embedded sandbox. */
  readonly rehearsals: 'count' | 'exempt';
  /** Whether a user at a terminal may override the policy. */
  readonly overrides: 'terminal' | 'never';
  readonly limits: readonly Limit[];
  readonly retailers: NameRule | undefined;
  /** Two-letter uppercase codes. */
  readonly countries: NameRule | undefined;
  /** Globs over whole URLs. */
  readonly urls: NameRule | undefined;
  readonly duplicates: DuplicateRule | undefined;
  /** Amount, in cents, above which a person must approve an order. */
  readonly approveAbove: (Rule & { readonly max: number }) | undefined;
  /** Total amount, in cents, above which a person must approve an upload as a whole. */
  readonly approveUploadAbove: (Rule & { readonly max: number }) | undefined;
  /** How long, in ms, an approval can be used, counted from its request. */
  readonly approvalMs: number;
  /** Files with the public keys of the approvers, as the policy names them. */
  readonly approvers: readonly ApproverFile[];
  /** Contents of the key files, if they were published with the policy. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Fingerprint of the publisher's key. Undefined if the policy is not published. */
  readonly signer?: string;
}

/** Describes in words the orders to which a limit applies. Undefined if it applies to all orders. */
export function scopeText(scope: Scope | undefined): string | undefined {
  if (!scope) return undefined;
  const metadata = Object.entries(scope.metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  return [...(scope.retailer === undefined ? [] : [scope.retailer]), ...metadata].join(', ');
}

/** Ordered from best to worst. */
export const outcomes = ['allowed', 'warned', 'needs_approval', 'refused'] as const;
export type VerdictOutcome = (typeof outcomes)[number];

/** The result of one rule, in the format that users see. Amounts are in cents. */
export interface Finding {
  readonly rule: string;
  readonly line: number;
  /** Describes the orders to which the rule applies; null if it applies to all orders. */
  readonly applies_to: string | null;
  readonly outcome: VerdictOutcome;
  readonly message: string;
  readonly limit_cents: number | null;
  /** Amount used before this order. */
  readonly used_cents: number | null;
  /** Amount that is left for other orders. If this order is allowed, its amount is already subtracted. */
  readonly left_cents: number | null;
  /** Period in the policy's time zone: `2026-11-22` or `2026-11`. */
  readonly period: string | null;
  /** End of the period, ISO 8601. */
  readonly resets_at: string | null;
  /** The table row to which the finding applies. Null for a single order, and for a finding about the whole table. */
  readonly row: number | null;
}

/** The policy's decision on proposed orders. */
export interface Verdict {
  readonly outcome: VerdictOutcome;
  readonly policy: string;
  readonly orders: number;
  /** Total of ceilings and fees. */
  readonly amount_cents: number;
  /** One finding for each rule that was evaluated, worst first. */
  readonly rules: readonly Finding[];
  /** Row by row, all findings that are not allowed. */
  readonly rows: readonly Finding[];
  /** The approval that covers the orders, or the request that awaits a decision. */
  readonly approval?: { readonly id: string; readonly state: 'open' | 'approved' };
}

/** A day or a month in a time zone. */
export interface Period {
  /** The day or month, such as `2026-11-22` or `2026-11`. */
  readonly name: string;
  /** First moment of the period, in ms since the epoch. */
  readonly begin: number;
  /** First moment after the period, in ms since the epoch. */
  readonly end: number;
}

export interface Periods {
  readonly day: Period;
  readonly month: Period;
}

const hourMs = 3600 * 1000;
const dayMs = 24 * hourMs;
/** Largest offset of any time zone from UTC, in ms. It includes a margin for long days. */
const zoneMs = 15 * hourMs;

/**
 * Finds the day and the month that contain a moment in a time zone. Handles clock changes. Pure.
 * @param now is the moment, in ms since the epoch.
 */
export function periodsAt(now: number, timeZone: string): Periods {
  const dateAt = datesIn(timeZone);
  const [year = 0, month = 0, date = 0] = dateAt(now).split('-').map(Number);
  const period = (name: string, first: number, next: number): Period => ({
    name,
    begin: beginOf(first, dateAt),
    end: beginOf(next, dateAt),
  });
  const day = Date.UTC(year, month - 1, date);
  return {
    day: period(nameOf(day), day, day + dayMs),
    month: period(nameOf(day).slice(0, 7), Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)),
  };
}

const nameOf = (midnight: number): string => new Date(midnight).toISOString().slice(0, 10);

/**
 * When a calendar date begins in a time zone, in ms since the epoch. If the zone skipped the date, this is when the
 * next date begins.
 * @param midnight is the start of the date in UTC.
 * @param dateAt is a function returned by `datesIn`.
 */
export function beginOf(midnight: number, dateAt: (moment: number) => string): number {
  const name = nameOf(midnight);
  let [before, after] = [midnight - zoneMs - dayMs, midnight + zoneMs + dayMs];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dateAt(middle) >= name) after = middle;
    else before = middle;
  }
  return after;
}

/** Returns a function that converts a moment to its date in a time zone, such as `2026-11-22`. */
export function datesIn(timeZone: string): (moment: number) => string {
  if (timeZone === 'UTC') {
    let last = { day: Number.NaN, date: '' };
    return (moment) => {
      const day = Math.floor(moment / dayMs);
      if (day !== last.day) last = { day, date: new Date(moment).toISOString().slice(0, 10) };
      return last.date;
    };
  }
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (moment) => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}-${parts.day}`;
  };
}

/** A time zone's name as spelled in the time zone database; undefined if the zone is unknown. */
export function zoneNamed(name: string): string | undefined {
  if (/^(?:utc|etc\/utc|gmt|etc\/gmt)$/i.test(name)) return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** A scheme, a plain host with an optional port, and then any path, query or fragment. */
const plainUrlPattern = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

/**
 * Whether every parser finds the same host in a URL. Parsers disagree about user names, backslashes and spaces. With
 * such a URL, the service might order from a different host than the one that the policy has checked.
 */
export const isPlainUrl = (url: string): boolean => plainUrlPattern.test(url) && isUrl(url);

/**
 * Normalizes a URL. The result has standard escapes, no user name, and no dot at the end of the host. Text that is not
 * a URL is returned unchanged.
 */
export function plainUrl(text: string): string {
  const url = parsed(text);
  return url ? url.href : text;
}

/** The host of a URL in lower case, without a dot at its end. Text that is not a URL is returned unchanged. */
// Without the mark, completion would load the URLs for this call.
export const hostOf = /* @__PURE__ */ ofLastUrl((text) => parsed(text)?.hostname ?? text);

/** All spellings of a URL for which a pattern might be written, in lower case. */
export function urlVariants(text: string): string[] {
  const url = parsed(text);
  const forms = [text];
  if (url) {
    const unicode = `${url.protocol}//${domainToUnicode(url.hostname)}${url.pathname}${url.search}${url.hash}`;
    forms.push(url.href, unicode, `${url.protocol}//${url.hostname}${url.pathname}${url.search}${url.hash}`);
  }
  return [...new Set(forms.flatMap((form) => [form, unescapedTwice(form)]).map(comparable))];
}

/** Normalizes a text for comparison. Case, and the encoding of accents, then make no difference. */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase();

function parsed(text: string): URL | undefined {
  const url = parseUrl(text);
  if (!url) return undefined;
  url.username = '';
  url.password = '';
  const host = url.hostname.replace(/(?<!\.)\.+$/, '');
  if (host !== '') url.hostname = host;
  return url;
}
