import { embeddedUrl } from '../config/stored.ts';
import { ShortIds } from '../format/short-ids.ts';
import { durationFlag } from '../format/time.ts';
import { trimSlashes } from '../platform/net/urls.ts';
import { shellWord } from '../platform/shell.ts';
import type { Context } from './context.ts';
import type { OrderContext } from './order-context.ts';

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

/**
 * The flags with which a command reaches the service of a record, under its profile where that has this service. A record
 * may come from elsewhere: undefined for a service that is in no profile, flag or environment of this run, which is never named.
 */
export async function flagsTo(
  context: OrderContext,
  profile: string,
  baseUrl: string,
): Promise<string | undefined> {
  const { baseUrl: own, legacyBaseUrl: legacy } = context.settings;
  const { ERRAND_BASE_URL: named = '', ERRAND_LEGACY_BASE_URL: namedLegacy = '' } = context.environment;
  const profiles = await context.profilesAt(baseUrl);
  // A flag may hide what the environment names.
  const services = [own.value, legacy.value, embeddedUrl, ...[named, namedLegacy].map(trimSlashes)];
  const isKnown = profiles.length > 0 || services.includes(baseUrl);
  if (!isKnown) return undefined;
  const name = profiles.includes(profile) ? profile : profiles[0];
  return `${name === undefined ? '' : ` --profile ${shellWord(name)}`} --base-url ${shellWord(baseUrl)}`;
}

/** What is said in place of a service that `flagsTo` does not name. */
export const anotherService = 'a service that no profile, flag or variable of this run names';

/**
 * Ids in a command to type: the beginnings that tables show, where a person is there to type it; whole for scripts and
 * records.
 */
export function typedIds(
  { interactive, output }: Pick<Context, 'interactive' | 'output'>,
  ids: readonly string[],
): string[] {
  if (!interactive.yes || output.format !== 'table') return [...ids];
  const short = new ShortIds();
  for (const id of ids) short.learn(id);
  return ids.map((id) => short.short(id));
}

/** The same of one that stands alone. */
export const typedId = (context: Pick<Context, 'interactive' | 'output'>, id: string): string =>
  typedIds(context, [id])[0] ?? id;
