import { gadgets } from './gadgets.ts';
import { handmade } from './handmade.ts';
import { house } from './house.ts';
import { pantry } from './pantry.ts';
import { reading } from './reading.ts';
import type { Sort } from './sort.ts';
import { wear } from './wear.ts';

/** Everyday goods, in the order in which their listings are numbered. */
export const goods: readonly Sort[] = [...pantry, ...house, ...gadgets, ...wear, ...reading, ...handmade];
