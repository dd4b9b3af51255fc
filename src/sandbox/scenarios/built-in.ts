import type { BuiltInScenario } from '../../api/scenario/words.ts';

/** Generates a scenario from a seed, in the format of a scenario file. */
type Make = (seed?: number) => unknown;

/** The built-in scenarios, imported lazily. */
export const builtIns: Readonly<Record<BuiltInScenario, () => Promise<Make>>> = {
  hostile: async () => (await import('./hostile.ts')).hostileShop,
};
