import { embeddedUrl } from '../config/stored.ts';
import { ShortIds } from '../format/short-ids.ts';
import { durationFlag } from '../format/time.ts';
import { trimSlashes } from '../platform/net/urls.ts';
import { shellWord } from '../platform/shell.ts';
import type { Context } from './context.ts';
import type { OrderContext } from './order-context.ts';

/** Flags that make another command use the same service as this run, as words of a command line. */
export const whereWords = ({ settings: { profile, baseUrl } }: Pick<OrderContext, 'settings'>): string[] => [
  ...(profile.from === 'flag' ? ['--profile', profile.value] : []),
  ...(baseUrl.from === 'flag' ? ['--base-url', baseUrl.value] : []),
];

/** The words of `whereWords` as text to display. */
export const whereFlags = (context: Pick<OrderContext, 'settings'>): string =>
  whereWords(context)
    .map((word) => ` ${shellWord(word)}`)
    .join('');

/**
 * The flags of `whereFlags` and, if this run has a `--timeout`, that flag too. For a suggested command that continues
 * to wait.
 */
export function waitFlags(context: Pick<Context, 'settings' | 'waitMs'>): string {
  const ms = context.waitMs();
  return `${ms === undefined ? '' : ` --timeout ${durationFlag(ms)}`}${whereFlags(context)}`;
}

/**
 * Flags that make a command use the service that a record belongs to. Names the record's profile if that profile uses
 * the service. Undefined if no profile, flag or environment variable of this run names the service. Such a service is
 * never shown, because the record may come from elsewhere.
 */
export async function flagsTo(
  context: OrderContext,
  profile: string,
  baseUrl: string,
): Promise<string | undefined> {
  const { baseUrl: own, legacyBaseUrl: legacy } = context.settings;
  const { ERRAND_BASE_URL: named = '', ERRAND_LEGACY_BASE_URL: namedLegacy = '' } = context.environment;
  const profiles = await context.profilesAt(baseUrl);
  // A flag may override the environment, so check both of them.
  const services = [own.value, legacy.value, embeddedUrl, ...[named, namedLegacy].map(trimSlashes)];
  const isKnown = profiles.length > 0 || services.includes(baseUrl);
  if (!isKnown) return undefined;
  const name = profiles.includes(profile) ? profile : profiles[0];
  return `${name === undefined ? '' : ` --profile ${shellWord(name)}`} --base-url ${shellWord(baseUrl)}`;
}

/** Text shown instead of a service that `flagsTo` does not name. */
export const unnamedService = 'a service that no profile, flag or variable of this run names';

/**
 * Formats ids for a suggested command. In an interactive session these are the short prefixes that tables show. Scripts
 * and records get full ids.
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

/** Same for a single id. */
export const typedId = (context: Pick<Context, 'interactive' | 'output'>, id: string): string =>
  typedIds(context, [id])[0] ?? id;
