import type { BuiltInScenario } from '../../api/scenario/words.ts';

/** Makes a scenario, as a file would have it, from a seed. */
type Make = (seed?: number) => unknown;

/** The scenarios that errand brings along, each loaded when it is played. */
export const builtIns: Readonly<Record<BuiltInScenario, () => Promise<Make>>> = {
  hostile: async () => (await import('./hostile.ts')).hostileShop,
};
