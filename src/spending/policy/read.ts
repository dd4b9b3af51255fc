import { readAmount } from '../../api/amount.ts';
import { countryProblem } from '../../api/country.ts';
import { formatMoney } from '../../format/money.ts';
import { type Location, YamlTree } from '../../format/yaml-tree.ts';
import { parseDuration } from '../../platform/duration.ts';
import { UsageError } from '../../platform/errors.ts';
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

/** Maximum period in which duplicates are searched for, in days. Reservations are not kept for longer than this. */
const maxDays = 400;
/** Maximum lifetime of an approval, in days. */
const maxApprovalDays = 30;
/** Default lifetime of an approval, in ms. */
const defaultApprovalMs = 24 * 3600 * 1000;

/**
 * Parses the text of a policy file. Nothing is ignored.
 * @throws UsageError for anything that it does not understand, naming file, line and key.
 */
export function readPolicy(file: string, text: string): Policy {
  const tree = new YamlTree(file, text, { whole: 'a policy is a map: version: 1, …', remedy: withQuotes });
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

const ruleAt = (tree: YamlTree, location: Location): Rule => ({
  rule: location.path,
  line: tree.lineOf(location),
});

function readLimits(
  tree: YamlTree,
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

function readPart(tree: YamlTree, location: Location): Limit[] {
  const { retailer, metadata, ...limits } = tree.fields(location, ['retailer', 'metadata', ...limitKinds]);
  if (!retailer && !metadata)
    throw tree.refused(location, 'names no part of the orders: give it a retailer, or metadata');
  const scope: Scope = {
    ...(retailer && { retailer: tree.text(retailer, "a retailer's name or host").toLowerCase() }),
    ...(metadata && { metadata: readMetadata(tree, metadata) }),
  };
  return readLimits(tree, location, limits, scope);
}

function readMetadata(tree: YamlTree, location: Location): Record<string, string> {
  const pairs = tree.texts(location);
  if (Object.keys(pairs).length === 0) throw tree.refused(location, 'is empty; such as { team: office }');
  return pairs;
}

function readNames<K extends 'allow' | 'deny'>(
  tree: YamlTree,
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

function readCountry(tree: YamlTree, location: Location): string {
  const code = tree.text(location, 'a two-letter country code').toUpperCase();
  const problem = countryProblem(code);
  if (problem !== undefined) throw tree.refused(location, `"${code}": ${problem}`);
  return code;
}

function readDuplicates(tree: YamlTree, location: Location): Policy['duplicates'] {
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
  tree: YamlTree,
  location: Location | undefined,
): Pick<Policy, 'approveAbove' | 'approveUploadAbove' | 'approvalMs'> {
  const given = location ? tree.fields(location, ['above', 'upload_above', 'expires']) : {};
  const { above, upload_above: uploadAbove, expires } = given;
  if (location && !above && !uploadAbove && !expires)
    throw tree.refused(
      location,
      'takes above or upload_above, with an amount, or expires, with a length of time',
    );
  const approvalMs = expires
    ? asWords(tree, expires, () => parseDuration(tree.text(expires), 'it', maxApprovalDays))
    : defaultApprovalMs;
  if (approvalMs === 0 && expires) throw tree.refused(expires, 'takes a length of time above zero');
  return {
    approveAbove: above && { ...ruleAt(tree, above), max: readCents(tree, above) },
    approveUploadAbove: uploadAbove && { ...ruleAt(tree, uploadAbove), max: readCents(tree, uploadAbove) },
    approvalMs,
  };
}

/**
 * Tells the user how to write an amount. Repeats the user's text only if it is clearly an amount, because a plain 9,000
 * may be dollars or cents.
 */
function withQuotes(text: string): string {
  const amount = readAmount(text);
  return amount.problem === undefined && !amount.isBare
    ? `an amount with a comma needs quotes: "${text}"`
    : 'write an amount in quotes, such as "$9000.00"';
}

/**
 * Reads an amount in the same format as on the command line. A whole number without decimals is rejected, because it
 * may be dollars or cents.
 */
function readCents(tree: YamlTree, location: Location): number {
  const amount = readAmount(tree.text(location, 'an amount, such as $200'));
  if (amount.problem !== undefined) throw tree.refused(location, amount.problem);
  if (!amount.isBare || amount.cents === 0) return amount.cents;
  const [units, cents] = [formatMoney(amount.cents), formatMoney(amount.cents / 100)];
  throw tree.refused(
    location,
    `is ${amount.cents / 100}, which can be read in two ways: write ${units} or ${cents}`,
  );
}

function readCount(tree: YamlTree, location: Location): number {
  const text = tree.text(location, 'a whole number');
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw tree.refused(location, `takes a whole number, not "${text}"`);
}

function readZone(tree: YamlTree, location: Location): string {
  const zone = tree.text(location, 'a time zone, such as America/Chicago');
  const known = zoneNamed(zone);
  if (known !== undefined) return known;
  throw tree.refused(location, `takes a time zone such as America/Chicago, not "${zone}"`);
}

/** Runs a parser that was written for flags. Its errors are reported with their position in the file. */
function asWords<T>(tree: YamlTree, location: Location, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw tree.refused(location, error.message.replace(/^it /, ''));
    throw error;
  }
}
