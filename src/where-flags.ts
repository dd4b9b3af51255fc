import type { Context } from './context.ts';
import type { OrderContext } from './order-context.ts';
import { durationFlag } from './output/time.ts';
import { shellWord } from './shell-word.ts';

/** The flags without which another command would ask another service, as words of a command line. */
export const whereWords = ({ settings: { profile, baseUrl } }: Pick<OrderContext, 'settings'>): string[] => [
  ...(profile.from === 'flag' ? ['--profile', profile.value] : []),
  ...(baseUrl.from === 'flag' ? ['--base-url', baseUrl.value] : []),
];

/** The same for a line that is shown. */
export const whereFlags = (context: Pick<OrderContext, 'settings'>): string =>
  whereWords(context)
    .map((word) => ` ${shellWord(word)}`)
    .join('');

/** The same for a command that goes on waiting, with the `--timeout` that was given. */
export function waitFlags(context: Pick<Context, 'settings' | 'waitMs'>): string {
  const ms = context.waitMs();
  return `${ms === undefined ? '' : ` --timeout ${durationFlag(ms)}`}${whereFlags(context)}`;
}

/** The flags with which a command reaches a service under a profile; without a profile that was deleted since. */
export async function flagsTo(context: OrderContext, profile: string, baseUrl: string): Promise<string> {
  const isKnown = await context.hasProfile(profile);
  return `${isKnown ? ` --profile ${shellWord(profile)}` : ''} --base-url ${shellWord(baseUrl)}`;
}
