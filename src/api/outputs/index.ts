import type { z } from 'zod';
import * as bulk from './bulk.ts';
import * as error from './error.ts';
import * as events from './events.ts';
import * as order from './order.ts';
import * as policy from './policy.ts';
import * as setup from './setup.ts';
import * as standing from './standing.ts';

/**
 * All of errand's own records that commands print, by name. Command definitions refer to shapes by name, so loading a
 * definition loads no shape.
 */
export const ownShapes = { ...bulk, ...error, ...events, ...order, ...policy, ...setup, ...standing };

export type OwnShapeName = keyof typeof ownShapes;

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** One of errand's own records, as printed. */
export type Output<N extends OwnShapeName> = DeepReadonly<z.output<(typeof ownShapes)[N]>>;
