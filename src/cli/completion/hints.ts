import type { Completable, Option } from '../../run/option.ts';
import type { Candidate, Hint } from './tree.ts';

/** What a value is, from the definition of its argument or option. */
export function hintOf({ names = [], completes = [], offers }: Completable): Hint {
  const kinds = [completes].flat().filter((kind) => kind !== 'commands');
  const from = kinds.find((kind) => kind !== 'files') ?? [names].flat().find((kind) => kind !== 'products');
  return {
    ...(offers && { values: candidates(offers) }),
    ...(from && { from }),
    ...(kinds.includes('files') && { files: true }),
  };
}

/** What the value of an option is: one of its own values, where it lists them. */
export function optionHint(option: Option): Hint {
  if (option.kind === 'choice') return { values: candidates(option.values) };
  if (option.kind === 'list')
    return { commas: true, ...(option.values && { values: candidates(option.values) }) };
  if (option.kind === 'text' && option.suggests) return { values: candidates(option.suggests) };
  return hintOf(option);
}

const candidates = (offers: NonNullable<Completable['offers']>): Candidate[] =>
  isList(offers)
    ? offers.map((value) => ({ value }))
    : Object.entries(offers).map(([value, { description: text }]) => ({ value, text }));

const isList = (offers: NonNullable<Completable['offers']>): offers is readonly string[] =>
  Array.isArray(offers);
