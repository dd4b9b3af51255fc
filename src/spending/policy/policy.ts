import { domainToUnicode } from 'node:url';
import { unescapedTwice, withPlainLetters } from '../../platform/net/urls.ts';

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
  readonly max: number;
  /** Undefined for all orders. */
  readonly scope: Scope | undefined;
}

/** Names that alone are allowed, or that are denied. */
export interface NameRule extends Rule {
  readonly kind: 'allow' | 'deny';
  readonly names: readonly string[];
}

export const sameFields = ['product', 'address'] as const;
export const duplicateActions = ['warn', 'approve', 'refuse'] as const;

/** Orders that look like an earlier one. */
interface DuplicateRule extends Rule {
  readonly same: readonly (typeof sameFields)[number][];
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
  readonly approveAbove: (Rule & { readonly max: number }) | undefined;
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

/** Ordered from best to worst. */
export const outcomes = ['allowed', 'warned', 'needs_approval', 'refused'] as const;
export type VerdictOutcome = (typeof outcomes)[number];

/** The result of one rule, in the format shown to users. Amounts in cents. */
export interface Finding {
  readonly rule: string;
  readonly line: number;
  /** The part of the orders the rule applies to; null for all. */
  readonly applies_to: string | null;
  readonly outcome: VerdictOutcome;
  readonly message: string;
  readonly limit_cents: number | null;
  /** Amount used before this order. */
  readonly used_cents: number | null;
  /** Amount left for others: after this order if it is allowed, otherwise before it. */
  readonly left_cents: number | null;
  /** Period in the policy's time zone: `2026-11-22` or `2026-11`. */
  readonly period: string | null;
  /** End of the period, ISO 8601. */
  readonly resets_at: string | null;
  /** The table row concerned; null for a single order and for a table as a whole. */
  readonly row: number | null;
}

/** The policy's decision on intended orders. */
export interface Verdict {
  readonly outcome: VerdictOutcome;
  readonly policy: string;
  readonly orders: number;
  /** Total of ceilings and fees. */
  readonly amount_cents: number;
  /** One finding per rule evaluated, worst first. */
  readonly rules: readonly Finding[];
  /** All findings other than allowed, row by row. */
  readonly rows: readonly Finding[];
  /** The approval that covers the orders, or the request awaiting a decision. */
  readonly approval?: { readonly id: string; readonly state: 'open' | 'approved' };
}

/** A day or a month in a time zone. */
export interface Period {
  /** `2026-11-22` or `2026-11`, as it is called there. */
  readonly name: string;
  /** Ms since the epoch; the first moment of it. */
  readonly begin: number;
  /** The first moment after it. */
  readonly end: number;
}

export interface Periods {
  readonly day: Period;
  readonly month: Period;
}

const hourMs = 3600 * 1000;
const dayMs = 24 * hourMs;
/** No zone is further from UTC, and no day is longer by more, ms. */
const zoneMs = 15 * hourMs;

/** The day and the month of a moment in a zone, also where its clock is changed then. Pure. @param now ms since the epoch. */
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
 * When a date of the calendar begins in a zone, ms since the epoch; one that the zone has skipped begins with the next.
 * @param midnight of the date in UTC. @param dateAt of `datesIn`.
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

/** From a moment to the date in a zone, `2026-11-22`. */
export function datesIn(timeZone: string): (moment: number) => string {
  if (timeZone === 'UTC') return (moment) => new Date(moment).toISOString().slice(0, 10);
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

/** A time zone as it is spelt in the database of zones; undefined for one that is not known. */
export function zoneNamed(name: string): string | undefined {
  if (/^(?:utc|etc\/utc|gmt|etc\/gmt)$/i.test(name)) return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** A scheme, a plain host with or without a port, then what belongs to the host alone. */
const plainUrlPattern = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

/**
 * Whether every reader of a URL finds the same host in it: a user name, a backslash or a blank is read in several ways,
 * so that what is judged here need not be what is ordered there.
 */
export const isPlainUrl = (url: string): boolean => plainUrlPattern.test(url) && URL.canParse(url);

/** A URL in one spelling: host without a dot at its end, no user name, usual escapes. The text itself where it is no URL. */
export function plainUrl(text: string): string {
  const url = parsed(text);
  return url ? url.href : text;
}

/** The same for comparing products: besides, neither scheme nor fragment, and letters and digits are not escaped. */
export function productOf(text: string): string {
  const url = parsed(text);
  if (!url) return text;
  const path = withPlainLetters(url.pathname).replace(/%[0-9a-f]{2}/gi, (found) => found.toUpperCase());
  return `${url.host}${path}${url.search}`;
}

/** In lower case, without a dot at its end; the text itself where it is no URL. */
export const hostOf = (text: string): string => parsed(text)?.hostname ?? text;

/** Every spelling of a URL that a pattern may be written for, in lower case. */
export function urlVariants(text: string): string[] {
  const url = parsed(text);
  const forms = [text];
  if (url) {
    const unicode = `${url.protocol}//${domainToUnicode(url.hostname)}${url.pathname}${url.search}${url.hash}`;
    forms.push(url.href, unicode, `${url.protocol}//${url.hostname}${url.pathname}${url.search}${url.hash}`);
  }
  return [...new Set(forms.flatMap((form) => [form, unescapedTwice(form)]).map(comparable))];
}

/** What is compared: however it is capitalised, and however its accents are composed. */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase();

function parsed(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  const host = url.hostname.replace(/(?<!\.)\.+$/, '');
  if (host !== '') url.hostname = host;
  return url;
}
