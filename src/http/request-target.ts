import type { Operation, Surface } from '../api/operation.ts';
import { findOperation } from '../api/operations/find.ts';
import { operations } from '../api/operations/index.ts';
import { UsageError } from '../platform/errors.ts';
import { trimSlashes } from '../platform/net/urls.ts';
import { operationOf } from './raw.ts';
import { isSameOrigin } from './request.ts';

/** What the command line asks for, as far as its words say. */
export interface Target {
  readonly method: string;
  /** Begins with a slash; with the query as it was given. */
  readonly path: string;
  readonly surface: Surface;
  /** The row of the table, where there is one. */
  readonly operation: Operation | undefined;
}

interface Bases {
  readonly base: string;
  readonly legacyBase: string;
}

const methodWord = /^[A-Za-z]{1,20}$/;
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
const scheme = /^[a-z][a-z0-9+.-]*:/i;

/** Paths of the legacy service begin with a part of their own. */
const legacyParts = new Set(
  Object.values<Operation>(operations)
    .filter(({ surface }) => surface === 'legacy')
    .map(({ path }) => firstPart(path)),
);

/**
 * Reads `[METHOD] PATH`. Without a method it is GET, or POST where something is sent.
 * @throws UsageError for words that are neither, and for an address of another origin.
 */
export function readTarget(
  [first, second]: readonly [string, string | undefined],
  sends: boolean,
  bases: Bases,
): Target {
  if (second === undefined && methods.includes(first.toUpperCase())) {
    throw new UsageError(`the path is missing: errand api ${first.toUpperCase()} PATH`);
  }
  if (second !== undefined && !methodWord.test(first)) {
    throw new UsageError(`"${first}" is not an HTTP method; the method comes first, then the path`);
  }
  const method = second === undefined ? (sends ? 'POST' : 'GET') : first.toUpperCase();
  const word = second ?? first;
  const path = isAddress(word) ? pathOf(word, bases) : `/${word.replace(/^\//, '')}`;
  const surface = legacyParts.has(firstPart(path)) ? 'legacy' : 'current';
  const operation = operationOf({ method, path, surface });
  if (!operation) refuseLookalike(method, path);
  return { method, path, surface, operation };
}

/**
 * A server may be lenient with capitals and a slash at the end: such a spelling of a path that makes an order must not
 * pass the journal and the policy. @throws UsageError naming the path.
 */
function refuseLookalike(method: string, path: string): void {
  const [bare = ''] = path.split('?', 1);
  const similar = findOperation(method, trimSlashes(bare.toLowerCase()));
  if (!similar?.once) return;
  throw new UsageError(
    `${method} ${path} is not a path of the service; ${method} ${similar.path} is, and goes through the journal`,
  );
}

function firstPart(path: string): string {
  return path.split(/[/?]/)[1] ?? '';
}

/** Whether a word is an address and no path. */
export const isAddress = (word: string): boolean => scheme.test(word);

/**
 * The path of an address under one of the base URLs: the key goes nowhere else.
 * @throws UsageError for any other address.
 */
function pathOf(address: string, { base, legacyBase }: Bases): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  for (const text of [base, legacyBase]) {
    const root = new URL(text);
    const prefix = trimSlashes(root.pathname);
    const isUnder = url && isSameOrigin(url, root) && url.pathname.startsWith(`${prefix}/`);
    if (isUnder) return url.pathname.slice(prefix.length) + url.search;
  }
  throw new UsageError(
    `${url?.host ? url.origin : 'that address'} is not the service in use (${base}), and its key goes nowhere else; give a path, or another --base-url or --profile`,
  );
}
