import type { Check } from '../check.ts';
import { ok, trouble } from '../check.ts';

/** What was found wrong when the settings were read. */
const foundIn = (name: 'configuration' | 'permissions' | 'settings', well: string): Check => ({
  name,
  run({ context }) {
    const found = (context.diagnosis?.troubles ?? []).filter(({ check }) => check === name);
    return found.length === 0 ? ok(well) : found.map(({ message, remedy }) => trouble(message, remedy));
  },
});

export const configuration = foundIn(
  'configuration',
  'the configuration can be read, and every name in it is known',
);
export const permissions = foundIn('permissions', "errand's files are private to you");
export const settings = foundIn('settings', 'every flag, variable, profile and preference can be used');
