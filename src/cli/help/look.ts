import type { Io } from '../../platform/streams.ts';
import { asTyped } from '../output/as-typed.ts';
import { noPaint, paintFor } from '../output/paint.ts';
import type { HelpLook } from './layout.ts';

/** Where there is no terminal. */
export const plainLook: HelpLook = { width: 100, paint: noPaint, asTyped: (text) => text };

/** What help is made for on these streams. */
export async function lookOf(io: Io): Promise<HelpLook> {
  return {
    width: io.stdout.columns() || plainLook.width,
    paint: await paintFor(io.stdout.color),
    asTyped: (text) => asTyped(text, io, 'stdout'),
  };
}
