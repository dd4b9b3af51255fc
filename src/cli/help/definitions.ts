import type { Command as Commander } from 'commander';
import type { AnyCommand } from '../define.ts';

interface Defined {
  readonly command: AnyCommand;
  /** `POST /orders` */
  readonly endpoints: readonly string[];
}

/** What each mounted command was made of, for its help; the help of the program itself loads no contract. */
export const definitions = new WeakMap<Commander, Defined>();
