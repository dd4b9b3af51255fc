import type { Finding } from './judge.ts';

/** Faults that are known, until they are mended: histories that show them are counted apart. */
const known: readonly (Pick<Finding, 'rule'> & { readonly what: RegExp; readonly why: string })[] = [
  {
    rule: 'unmet',
    what: /in doubt: the order may have been made by an earlier attempt, and is refused now/,
    why: 'two accounts with one reference meet where keys are unique among everyone',
  },
  {
    rule: 'untrue',
    what: /counts \d+ as new, and/,
    why: 'a row that the service has under its key counts as new while lists lag',
  },
];

/** Why a finding is known; undefined if it is new. */
export const knownAs = ({ rule, what }: Finding): string | undefined =>
  known.find((one) => one.rule === rule && one.what.test(what))?.why;
