import type { Finding } from './judge.ts';

/** Faults that are known, until they are mended: histories that show them are counted apart. */
const known: readonly (Pick<Finding, 'rule'> & { readonly what: RegExp; readonly why: string })[] = [
  {
    rule: 'unmet',
    what: /longer than a service keeps a key/,
    why: 'an order in doubt is not sent again though a look by its reference shows that it never arrived',
  },
  {
    rule: 'unmet',
    what: /in doubt: the order may have been made by an earlier attempt, and is refused now/,
    why: 'two accounts with one reference meet where keys are unique among everyone',
  },
  {
    rule: 'unmet',
    what: /is in doubt and was sent with another key/,
    why: 'what one user of an account left in doubt no other of its users can settle',
  },
  {
    rule: 'ordered twice',
    what: /of other users/,
    why: 'users of one account that share a journal are taken for accounts of their own',
  },
  {
    rule: 'two live',
    what: /of other users/,
    why: 'users of one account that share a journal are taken for accounts of their own',
  },
  {
    rule: 'untrue',
    what: /says that nothing new was ordered, and it was: (?:an order for this reference|the same order) is in doubt since .*settling that one.*\nthis order existed already/,
    why: 'an order that is made by settling a doubt is said to have existed',
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
