import { healthPath, isControl } from '../../api/control.ts';
import { errorCodes } from '../../api/error-codes.ts';
import { isObject } from '../../api/json.ts';
import { normaliseVariants, oddIds } from '../../api/sandbox-faults.ts';

/** Faults that replace, delay or break off a response. */
type BreakingKind = 'refuse' | 'reset' | 'delay' | 'truncate' | 'status' | 'html' | 'bare' | 'redirect';
/** Faults that alter a response. */
type AlteringKind = 'normalise' | 'id' | 'another-order';
export type FaultKind = BreakingKind | AlteringKind;

/** A fault of a served sandbox. */
export interface Fault {
  /** As originally written. */
  readonly text: string;
  readonly kind: FaultKind;
  /** Whether the fault is applied only after the service has processed the request. */
  readonly after: boolean;
  readonly status: number;
  /** For a `delay`, the duration in ms. For a 429, the value of `retry-after` in ms. */
  readonly ms: number;
  /**
   * For a fault that alters a response: the variants or ids to use. If the list is empty, a variant is chosen by the
   * seed. For a status fault: the error code.
   */
  readonly variants: readonly string[];
  /** JSON sent instead of the service's own error body. */
  readonly body?: string;
  /** Share of the matching requests to which the fault is applied, 0 to 1. */
  readonly share: number;
  /** Tests whether the fault applies to a method and path. By default, the fault applies to all requests. */
  readonly matches: (method: string, pathname: string) => boolean;
}

interface Form {
  readonly kind: FaultKind;
  readonly after?: true;
  readonly status?: number;
  /** Allowed range of the status after the colon, for faults that require a status. */
  readonly statuses?: readonly [min: number, max: number];
  /** Names allowed after the colon. Several names are separated by commas. */
  readonly names?: readonly string[];
  readonly takesOneName?: true;
  readonly takesBody?: true;
  readonly takesTime?: true;
  readonly nowhere?: true;
}

const forms: Readonly<Record<string, Form>> = {
  refuse: { kind: 'refuse', nowhere: true },
  'reset-before': { kind: 'reset' },
  'reset-after': { kind: 'reset', after: true },
  delay: { kind: 'delay', takesTime: true },
  truncate: { kind: 'truncate', after: true },
  html: { kind: 'html', statuses: [200, 599] },
  bare: { kind: 'bare', statuses: [200, 599] },
  redirect: { kind: 'redirect', statuses: [300, 399] },
  normalise: { kind: 'normalise', names: Object.keys(normaliseVariants) },
  id: { kind: 'id', names: Object.keys(oddIds) },
  'another-order': { kind: 'another-order' },
};

const grammar =
  /^(?<name>[a-z0-9-]+)(?::(?<variant>[a-z0-9_,-]+))?(?:=(?<time>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|s|m))?(?::(?<share>\d{1,3}(?:\.\d{1,3})?)%)?(?:@(?:(?<method>[A-Z]+) )?(?<path>\/\S*))?$/;
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const defaultMs = 1000;

/** Parses a fault such as `reset-after:20%@POST /orders`; undefined if the text is not a valid fault. */
export function readFault(text: string): Fault | undefined {
  const { body, rest } = withoutBody(text.trim());
  const parts = grammar.exec(rest)?.groups;
  if (!parts?.name) return undefined;
  const { name, variant, time, unit = 'ms', share = '100', method, path } = parts;
  const form = Object.hasOwn(forms, name) ? forms[name] : serviceError(name);
  const taken = form && readVariant(form, variant);
  const part = Number(share) / 100;
  if (!form || !taken || part > 1 || part === 0 || canNeverFall(method, path)) return undefined;
  if (body !== undefined && (!form.takesBody || variant !== undefined || !isJsonObject(body)))
    return undefined;
  if ((time !== undefined && !form.takesTime) || (path !== undefined && form.nowhere)) return undefined;
  return {
    text: text.trim(),
    kind: form.kind,
    after: form.after === true,
    status: 0,
    ms: time === undefined ? defaultMs : Number(time) * (units[unit] ?? 1),
    variants: [],
    share: part,
    matches: matcher(method, path),
    ...taken,
    ...(body !== undefined && { body }),
  };
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Whether a fault could never apply. Paths are matched without their query, so a path with a query never matches.
 * Faults also skip the control API.
 */
const canNeverFall = (method = 'GET', path = '/'): boolean =>
  !methods.has(method) || /[?#]/.test(path) || path === healthPath || isControl(path);

/** Splits off a custom body, which follows the first `=`: `402={"code":"card_declined"}:20%@POST /orders`. */
function withoutBody(text: string): { readonly body?: string; readonly rest: string } {
  const from = text.indexOf('={') + 1;
  const to = text.lastIndexOf('}') + 1;
  if (from === 0 || to < from) return { rest: text };
  return { body: text.slice(from, to), rest: text.slice(0, from - 1) + text.slice(to) };
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** A status with the service's own error body. */
function serviceError(name: string): Form | undefined {
  const [, digits, after] = /^([45]\d\d)(-after)?$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const status = Number(digits);
  return {
    kind: 'status',
    status,
    names: codesOf(status),
    takesOneName: true,
    takesBody: true,
    ...(after && { after: true }),
    ...(status === 429 && { takesTime: true }),
  };
}

/** Error codes whose responses have the given status. */
export const codesOf = (status: number): string[] =>
  Object.entries(errorCodes)
    .filter(([, row]) => row.status === status)
    .map(([code]) => code);

/** Statuses whose responses have no body. Such a response has no field that a fault could alter. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304]);

type Variant = Partial<Pick<Fault, 'status' | 'after' | 'variants'>>;

function readVariant(
  { status = 0, statuses, names, takesOneName }: Form,
  text: string | undefined,
): Variant | undefined {
  if (statuses) {
    const [, digits, after] = /^(\d{3})(-after)?$/.exec(text ?? '') ?? [];
    const given = Number(digits ?? 0);
    const isTaken = given >= statuses[0] && given <= statuses[1] && !bodyless.has(given);
    return isTaken ? { status: given, ...(after && { after: true }) } : undefined;
  }
  if (text === undefined) return { status };
  const variants = takesOneName ? [text] : text.split(',');
  return names && variants.every((name) => names.includes(name)) ? { status, variants } : undefined;
}

/** Matches a method and a path, where `*` matches anything. */
function matcher(method: string | undefined, path: string | undefined): Fault['matches'] {
  if (path === undefined) return () => true;
  const parts = path.split('*');
  const [first = '', ...rest] = parts;
  return (requested, pathname) => {
    if (method !== undefined && method !== requested) return false;
    if (parts.length === 1) return pathname === path;
    const last = rest.at(-1) ?? '';
    if (!pathname.startsWith(first) || !pathname.endsWith(last)) return false;
    let at = first.length;
    for (const part of rest.slice(0, -1)) {
      const found = pathname.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return pathname.length - last.length >= at;
  };
}
