import { readAmount } from '../api/amount.ts';

/** Whether somebody has typed an amount that was shown to them, with or without its sign. */
export function isAmount(typed: string, cents: number): boolean {
  const read = readAmount(typed);
  return read.problem === undefined && read.cents === cents;
}
