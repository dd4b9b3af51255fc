import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Scalar } from 'yaml';
import { readAmount } from '../../api/amount.ts';
import { countryProblem } from '../../api/country.ts';
import { formatMoney } from '../../format/money.ts';
import { readYaml } from '../../format/parse-document.ts';
import { parseDuration } from '../../platform/duration.ts';
import { UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import {
  duplicateActions,
  type Limit,
  type LimitKind,
  limitKinds,
  type NameRule,
  type Policy,
  type Rule,
  type Scope,
  sameFields,
  zoneNamed,
} from './policy.ts';

const keys = [
  'version',
  'limits',
  'time_zone',
  'retailers',
  'countries',
  'urls',
  'per',
  'duplicates',
  'approve',
  'approvers',
  'overrides',
  'rehearsals',
] as const;

/** Maximum period in which duplicates are looked for, days. Reservations are not kept for longer. */
const maxDays = 400;
/** Maximum lifetime of an approval, days. */
const maxApprovalDays = 30;
/** Default lifetime of an approval, ms. */
const defaultApprovalMs = 24 * 3600 * 1000;

/**
 * Parses the text of a policy file.
 * @throws UsageError naming file, line and key for anything it does not understand. Nothing is ignored.
 */
export function readPolicy(file: string, text: string): Policy {
  const tree = new PolicyTree(file, text);
  const fields = tree.fields(tree.root, keys);
  if (!fields.version) throw tree.refused(tree.root, 'version: 1 is missing');
  const version = tree.text(fields.version);
  if (version !== '1') throw tree.refused(fields.version, `is ${version}; this errand knows version 1`);
  const { retailers, countries, urls, duplicates, approve, approvers } = fields;
  return {
    file,
    timeZone: fields.time_zone ? readZone(tree, fields.time_zone) : 'UTC',
    rehearsals: fields.rehearsals ? tree.choice(fields.rehearsals, ['count', 'exempt']) : 'count',
    overrides: fields.overrides ? tree.choice(fields.overrides, ['terminal', 'never']) : 'terminal',
    limits: [
      ...(fields.limits
        ? readLimits(tree, fields.limits, tree.fields(fields.limits, limitKinds), undefined)
        : []),
      ...(fields.per ? tree.list(fields.per).flatMap((part) => readPart(tree, part)) : []),
    ],
    retailers: retailers && readNames(tree, retailers, ['allow', 'deny'], (name) => name.toLowerCase()),
    countries: countries && {
      ...ruleAt(tree, countries),
      kind: 'allow',
      names: tree.list(countries).map((location) => readCountry(tree, location)),
    },
    urls: urls && readNames(tree, urls, ['deny'], (glob) => glob),
    duplicates: duplicates && readDuplicates(tree, duplicates),
    ...readApprove(tree, approve),
    approvers: approvers
      ? tree.list(approvers).map((location) => ({
          ...ruleAt(tree, location),
          name: tree.text(location, 'the file of a public key'),
        }))
      : [],
  };
}

const ruleAt = (tree: PolicyTree, location: Location): Rule => ({
  rule: location.path,
  line: tree.lineOf(location),
});

function readLimits(
  tree: PolicyTree,
  location: Location,
  fields: Partial<Record<LimitKind, Location>>,
  scope: Scope | undefined,
): Limit[] {
  const limits = limitKinds.flatMap((kind): Limit[] => {
    const value = fields[kind];
    if (!value) return [];
    const max = kind === 'quantity_per_line' ? readCount(tree, value) : readCents(tree, value);
    return [{ ...ruleAt(tree, value), kind, max, scope }];
  });
  if (limits.length === 0) throw tree.refused(location, `sets no limit; known are ${limitKinds.join(', ')}`);
  return limits;
}

function readPart(tree: PolicyTree, location: Location): Limit[] {
  const { retailer, metadata, ...limits } = tree.fields(location, ['retailer', 'metadata', ...limitKinds]);
  if (!retailer && !metadata)
    throw tree.refused(location, 'names no part of the orders: give it a retailer, or metadata');
  const scope: Scope = {
    ...(retailer && { retailer: tree.text(retailer, "a retailer's name or host").toLowerCase() }),
    ...(metadata && { metadata: readMetadata(tree, metadata) }),
  };
  return readLimits(tree, location, limits, scope);
}

function readMetadata(tree: PolicyTree, location: Location): Record<string, string> {
  const pairs = tree.texts(location);
  if (Object.keys(pairs).length === 0) throw tree.refused(location, 'is empty; such as { team: office }');
  return pairs;
}

function readNames<K extends 'allow' | 'deny'>(
  tree: PolicyTree,
  location: Location,
  kinds: readonly K[],
  plain: (name: string) => string,
): NameRule {
  const fields = tree.fields(location, kinds);
  const given = kinds.filter((kind) => fields[kind] !== undefined);
  const [kind] = given;
  const list = kind && fields[kind];
  if (!list || given.length > 1)
    throw tree.refused(location, `takes either of ${kinds.join(' or ')}, with a list`);
  return { ...ruleAt(tree, list), kind, names: tree.list(list).map((name) => plain(tree.text(name))) };
}

function readCountry(tree: PolicyTree, location: Location): string {
  const code = tree.text(location, 'a two-letter country code').toUpperCase();
  const problem = countryProblem(code);
  if (problem !== undefined) throw tree.refused(location, `"${code}": ${problem}`);
  return code;
}

function readDuplicates(tree: PolicyTree, location: Location): Policy['duplicates'] {
  const { same, within, then } = tree.fields(location, ['same', 'within', 'then']);
  if (!same || !within || !then) throw tree.refused(location, 'takes all of same, within and then');
  return {
    ...ruleAt(tree, location),
    same: tree.list(same).map((one) => tree.choice(one, sameFields)),
    withinMs: asWords(tree, within, () => parseDuration(tree.text(within), 'it', maxDays)),
    action: tree.choice(then, duplicateActions),
  };
}

function readApprove(
  tree: PolicyTree,
  location: Location | undefined,
): Pick<Policy, 'approveAbove' | 'approvalMs'> {
  const { above, expires } = location ? tree.fields(location, ['above', 'expires']) : {};
  if (location && !above && !expires)
    throw tree.refused(location, 'takes above, with an amount, or expires, with a length of time');
  const approvalMs = expires
    ? asWords(tree, expires, () => parseDuration(tree.text(expires), 'it', maxApprovalDays))
    : defaultApprovalMs;
  if (approvalMs === 0 && expires) throw tree.refused(expires, 'takes a length of time above zero');
  return {
    approveAbove: above && { ...ruleAt(tree, above), max: readCents(tree, above) },
    approvalMs,
  };
}

/**
 * Tells the user how to quote an amount. Repeats the user's text only if it is clearly an amount, because a plain 9,000
 * may mean dollars or cents.
 */
function withQuotes(text: string): string {
  const amount = readAmount(text);
  return amount.problem === undefined && !amount.isBare
    ? `an amount with a comma needs quotes: "${text}"`
    : 'write an amount in quotes, such as "$9000.00"';
}

/**
 * Reads an amount in the same format as on the command line. A whole number without decimals is rejected, because it
 * may mean dollars or cents.
 */
function readCents(tree: PolicyTree, location: Location): number {
  const amount = readAmount(tree.text(location, 'an amount, such as $200'));
  if (amount.problem !== undefined) throw tree.refused(location, amount.problem);
  if (!amount.isBare || amount.cents === 0) return amount.cents;
  const [units, cents] = [formatMoney(amount.cents), formatMoney(amount.cents / 100)];
  throw tree.refused(
    location,
    `is ${amount.cents / 100}, which can be read in two ways: write ${units} or ${cents}`,
  );
}

function readCount(tree: PolicyTree, location: Location): number {
  const text = tree.text(location, 'a whole number');
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw tree.refused(location, `takes a whole number, not "${text}"`);
}

function readZone(tree: PolicyTree, location: Location): string {
  const zone = tree.text(location, 'a time zone, such as America/Chicago');
  const known = zoneNamed(zone);
  if (known !== undefined) return known;
  throw tree.refused(location, `takes a time zone such as America/Chicago, not "${zone}"`);
}

/** Runs a parser written for flags, and reports its errors with the position in the file. */
function asWords<T>(tree: PolicyTree, location: Location, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw tree.refused(location, error.message.replace(/^it /, ''));
    throw error;
  }
}

/** A value of a policy file and its position. */
interface Location {
  readonly node: unknown;
  /** Path such as `limits.per_day`; empty for the whole file. */
  readonly path: string;
}

/** A YAML file as a tree of values, each parsed as the type it must have. Every error names file and line. */
class PolicyTree {
  readonly root: Location;
  readonly #file: string;
  readonly #lines = new LineCounter();

  /** @throws UsageError naming the line if the text is not YAML. */
  constructor(file: string, text: string) {
    this.#file = file;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#lines.addNewLine(at + 1);
    this.#lines.lineStarts.unshift(0);
    this.root = { node: readYaml(file, text, withQuotes).contents, path: '' };
  }

  lineOf({ node }: Location): number {
    const range = isNode(node) ? node.range : undefined;
    return range ? this.#lines.linePos(range[0]).line : 1;
  }

  refused(location: Location, what: string): UsageError {
    const where = `${this.#file}, line ${this.lineOf(location)}`;
    return new UsageError(location.path === '' ? `${where}: ${what}` : `${where}: ${location.path} ${what}`);
  }

  /**
   * The values of a map by key. @throws UsageError for a key that is not in `known`. The error suggests the nearest
   * known key.
   */
  fields<K extends string>(location: Location, known: readonly K[]): Partial<Record<K, Location>> {
    const found: Partial<Record<K, Location>> = {};
    for (const { key, value } of this.pairs(location)) {
      const name = known.find((one) => one === key.text);
      if (name === undefined) throw this.#unknown(key, known);
      found[name] = value;
    }
    return found;
  }

  /** Reads a map whose keys and values are arbitrary texts. */
  texts(location: Location): Record<string, string> {
    return Object.fromEntries(this.pairs(location).map(({ key, value }) => [key.text, this.text(value)]));
  }

  list(location: Location): readonly Location[] {
    const { node } = location;
    if (!isSeq(node) || node.items.length === 0)
      throw this.refused(location, 'takes a list with at least one value, in brackets or a line each');
    return node.items.map((item, index) => ({ node: item, path: `${location.path}[${index + 1}]` }));
  }

  /** A scalar exactly as it is written. */
  text(location: Location, takes = 'a text'): string {
    const scalar = this.#scalar(location, takes);
    const text = written(scalar);
    if (text.trim() === '') throw this.refused(location, `is empty; it takes ${takes}`);
    return text.trim();
  }

  choice<T extends string>(location: Location, values: readonly T[]): T {
    const text = this.text(location, values.join(' or '));
    const found = values.find((value) => value === text);
    if (found === undefined)
      throw this.refused(location, `takes ${values.join(' or ')}, not "${shown(text)}"`);
    return found;
  }

  pairs(
    location: Location,
  ): { readonly key: { readonly text: string; readonly location: Location }; readonly value: Location }[] {
    const { node, path } = location;
    if (!isMap(node))
      throw this.refused(location, path === '' ? 'a policy is a map: version: 1, …' : 'takes a map');
    return node.items.map((pair) => {
      const text = isScalar(pair.key) ? written(pair.key) : '';
      const key = { text, location: { node: pair.key, path } };
      // For a key without a value, use the position of the key.
      const value = isScalar(pair.value) && pair.value.value === null ? undefined : pair.value;
      const inner = path === '' ? text : `${path}.${text}`;
      if (value === undefined || value === null)
        throw this.refused({ node: pair.key, path: inner }, 'has no value');
      return { key, value: { node: value, path: inner } };
    });
  }

  #scalar(location: Location, takes: string): Scalar {
    const { node } = location;
    if (isAlias(node)) throw this.refused(location, 'is an alias (*); write the value out');
    if (!isScalar(node)) throw this.refused(location, `takes ${takes}`);
    return node;
  }

  #unknown(
    { text, location }: { readonly text: string; readonly location: Location },
    known: readonly string[],
  ) {
    const near = nearestWord(text, known);
    const where = { node: location.node, path: '' };
    const inside = location.path === '' ? '' : ` in ${location.path}`;
    const suggestion = near === undefined ? `known: ${known.join(', ')}` : `did you mean ${near}?`;
    return this.refused(where, `"${shown(text)}" is not known${inside}; ${suggestion}`);
  }
}

const isNode = (node: unknown): node is Node => isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);

/** Returns a scalar exactly as written in the file, because the parsed number would lose the zeros in 200.00 or 000. */
const written = ({ value, source }: Scalar): string =>
  typeof value === 'string' ? value : (source ?? String(value));

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
