import type { z } from 'zod';
import * as bulk from './bulk.ts';
import * as error from './error.ts';
import * as events from './events.ts';
import * as order from './order.ts';
import * as policy from './policy.ts';
import * as setup from './setup.ts';

/** Every record of errand's own that a command prints, by its name. Definitions name shapes, so that reading them loads none. */
export const ownShapes = { ...bulk, ...error, ...events, ...order, ...policy, ...setup };

export type OwnShapeName = keyof typeof ownShapes;

type Kept<T> = T extends readonly (infer E)[]
  ? readonly Kept<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Kept<T[K]> }
    : T;

/** A record of errand's own as it is printed. */
export type Output<N extends OwnShapeName> = Kept<z.output<(typeof ownShapes)[N]>>;
