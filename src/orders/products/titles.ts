import type { TitleOf } from '../../format/result.ts';
import type { SeenTitle, Titles } from '../../journal/titles.ts';
import type { Context } from '../../run/context.ts';
import { isOnScreen } from '../../run/on-screen.ts';

/** Keeps the titles of products that a person is shown; scripts keep none. */
export async function keepTitles(context: Context, seen: Iterable<SeenTitle>): Promise<void> {
  if (isOnScreen(context)) (await open(context)).keep(seen);
}

/** The titles of products that this machine was shown at the service in use. */
export const knownTitles = async (context: Context): Promise<TitleOf> => (await open(context)).reader();

async function open(context: Context): Promise<Titles> {
  const { Titles } = await import('../../journal/titles.ts');
  const { account } = await context.sender();
  const { folders, baseUrl } = context.settings;
  return new Titles(folders.state, { service: baseUrl.value, account });
}
