import type { Context } from './context.ts';
import { shellWord } from './shell-word.ts';

/** The flags without which another command would ask another service. */
export function whereFlags({ settings: { profile, baseUrl } }: Pick<Context, 'settings'>): string {
  const flags = [
    profile.from === 'flag' && ` --profile ${shellWord(profile.value)}`,
    baseUrl.from === 'flag' && ` --base-url ${shellWord(baseUrl.value)}`,
  ];
  return flags.filter(Boolean).join('');
}

/** The flags with which a command reaches a service under a profile; without a profile that was deleted since. */
export async function flagsTo(context: Context, profile: string, baseUrl: string): Promise<string> {
  const isKnown = (await context.store()).profile(profile) !== undefined;
  return `${isKnown ? ` --profile ${shellWord(profile)}` : ''} --base-url ${shellWord(baseUrl)}`;
}
