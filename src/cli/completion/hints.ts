import { shells } from '../../completion-scripts.ts';
import { destinationCountries } from '../../contract/enums.ts';
import { sandboxTriggers } from '../../contract/sandbox-triggers.ts';
import { preferences } from '../../settings/preferences.ts';
import type { Option } from '../define.ts';
import type { SourceName } from './sources.ts';
import type { Candidate, Hint } from './tree.ts';

/** What an argument takes, by its own name, whatever command it stands at. */
const argumentsByName: Readonly<Record<string, Hint>> = {
  order: { from: 'orders' },
  orders: { from: 'orders' },
  account: { from: 'accounts' },
  accounts: { from: 'accounts' },
  batch: { from: 'batches' },
  batches: { from: 'batches' },
  return: { from: 'returns' },
  returns: { from: 'returns' },
  retailer: { from: 'retailers' },
  profile: { from: 'profiles' },
  address: { from: 'addresses' },
  file: { files: true },
  files: { files: true },
};

/** What `id`, `ids`, `name`, `key` or `keys` mean, by the noun they stand under. */
const idsByNoun: Readonly<Record<string, SourceName>> = {
  order: 'orders',
  'order journal': 'intents',
  'agent order': 'orders',
  account: 'accounts',
  return: 'returns',
  bulk: 'batches',
  webhook: 'events',
  address: 'addresses',
  profile: 'profiles',
};

const described = (values: Readonly<Record<string, { readonly description: string }>>): Candidate[] =>
  Object.entries(values).map(([value, { description: text }]) => ({ value, text }));

/** Arguments with values of their own, as command and argument. */
const argumentsByPlace: Readonly<Record<string, Hint>> = {
  'config get name': { values: described(preferences) },
  'config set name': { values: described(preferences) },
  'sandbox trigger event': { values: described(sandboxTriggers) },
  'sandbox trigger ids': { from: 'orders' },
  'legacy retry ids': { from: 'orders' },
  'completion shell': { values: shells.map((value) => ({ value })) },
};

const optionsByKey: Readonly<Record<string, Hint>> = {
  profile: { from: 'profiles' },
  shipTo: { from: 'addresses', files: true },
  retailer: { from: 'retailers' },
  account: { from: 'accounts' },
  order: { from: 'orders' },
  orderId: { from: 'orders' },
  batch: { from: 'batches' },
  useMap: { from: 'maps' },
  country: { values: destinationCountries.map((value) => ({ value })) },
  input: { files: true },
};

/** What an argument takes. @param path the command's names without the program's. */
export function argumentHint(path: readonly string[], name: string): Hint {
  const own = argumentsByPlace[[...path, name].join(' ')];
  if (own) return own;
  const source = /^(ids?|name|keys?)$/.test(name) ? idsByNoun[path.slice(0, -1).join(' ')] : undefined;
  return source ? { from: source } : (argumentsByName[name] ?? {});
}

/** What the value of an option is, from its definition. */
export function optionHint(key: string, option: Option): Hint {
  if (option.kind === 'choice') return { values: option.values.map((value) => ({ value })) };
  if (option.kind === 'list')
    return { commas: true, ...(option.values && { values: option.values.map((value) => ({ value })) }) };
  if (option.kind === 'text' && option.suggests)
    return { values: option.suggests.map((value) => ({ value })) };
  const known = option.kind === 'text' || option.kind === 'texts' ? optionsByKey[key] : undefined;
  if (known) return known;
  const isFile = /(^|\W)(file|folder|path|dir)(\W|$)/i.test(option.placeholder ?? '');
  return isFile ? { files: true } : {};
}
