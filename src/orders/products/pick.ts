import { serviceCurrency } from '../../api/amount.ts';
import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Column, TitleOf } from '../../format/result.ts';
import type { ShownTitle, Titles } from '../../journal/saved-files.ts';
import { isUrl } from '../../platform/net/urls.ts';
import type { Context } from '../../run/context.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { searchHints } from './columns.ts';

/** A product picked by the user. */
interface Picked {
  readonly url: string;
  /** Price from the search, in cents of the service's own currency; undefined if the price is in another currency. */
  readonly price: number | undefined;
}

const pickColumns: readonly Column<Shape<'Sku'>>[] = [
  { name: 'title', path: 'title', weight: 9, minWidth: 24, keeps: 'ends' },
  { name: 'retailer', path: 'retailer', weight: 8 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
];

/** Listings offered at a time. */
const offered = 20;
const searchAgain = 'search for something else';

/**
 * Searches until the user picks a product.
 * @param words are the words for the first search. If they are missing, the user is asked for them.
 */
export async function searchAndPick(context: Context, words?: string): Promise<Picked> {
  const client = await context.client();
  const prompt = await context.prompt();
  for (let q = words; ; q = undefined) {
    q ??= await prompt.askText(context, 'What are you looking for?');
    const { body } = await client.call('search', { query: { q, limit: offered } });
    const picked = await pick(context, q, body);
    if (picked) return picked;
  }
}

/** Lets the user pick a search result. @returns undefined if the user picks none. */
export async function pick(
  context: Context,
  words: string,
  body: Received<'search'>,
): Promise<Picked | undefined> {
  const found = objectsIn(body, 'results');
  const orderable = found.filter(isOrderable);
  const left = found.length - orderable.length;
  const notes = [
    ...(orderable.length === 0 ? [`nothing found for "${words}"`] : []),
    ...searchHints(numberIn(body, 'excluded_by_price'), textIn(body, 'hint')),
    ...(left > 0 ? [`${left} more cannot be ordered at the moment`] : []),
  ];
  for (const line of notes) context.note(line);
  if (orderable.length === 0) return undefined;
  const prompt = await context.prompt();
  const chosen = await prompt.askRow(context, 'Which one?', orderable, pickColumns, {
    others: [searchAgain],
  });
  if (chosen === searchAgain) return undefined;
  await saveTitles(context, [[chosen.url, textIn(chosen, 'title')]]);
  // Show the URL, because the URL determines what is ordered, whatever the title says. A narrow terminal may also have
  // cut off the retailer.
  context.note(`  ${[textIn(chosen, 'retailer'), chosen.url].filter(Boolean).join('  ')}`);
  const isComparable = chosen.currency_code === serviceCurrency;
  return { url: chosen.url, price: isComparable ? numberIn(chosen, 'price') : undefined };
}

type Orderable = JsonObject & { readonly url: string };

function isOrderable(listing: JsonObject): listing is Orderable {
  const url = textIn(listing, 'url');
  return listing.available !== false && url !== undefined && isUrl(url) && /^https?:/i.test(url);
}

/** Saves titles of products that are shown on a terminal. Scripts save none. */
export async function saveTitles(context: Context, shown: Iterable<ShownTitle>): Promise<void> {
  if (isOnScreen(context)) (await open(context)).save(shown);
}

/** Looks up titles that were saved for products at the current service. */
export const knownTitles = async (context: Context): Promise<TitleOf> => (await open(context)).reader();

async function open(context: Context): Promise<Titles> {
  const { Titles } = await import('../../journal/saved-files.ts');
  const { account } = await context.sender();
  const { folders, baseUrl } = context.settings;
  return new Titles(folders.state, { service: baseUrl.value, account });
}
