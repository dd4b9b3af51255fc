import type { Received } from '../../api/received.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { assembleOrder } from '../../orders/input/assemble.ts';
import { productWords } from '../../orders/input/prompts.ts';
import { pick, searchAndPick } from '../../orders/products/pick.ts';
import type { Context } from '../../run/context.ts';
import { whereWords } from '../../run/context-flags.ts';
import type { createdOutput } from './created.ts';
import { orderAssembled } from './created.ts';

/** Lets the user pick a search result and orders it, prompting for the rest as `order create` does. */
export async function pickAndOrder(
  context: Context,
  words: string,
  found: Received<'search'>,
): Promise<ResultOf<typeof createdOutput>> {
  await context.ready();
  const { url, price } = (await pick(context, words, found)) ?? (await searchAndPick(context));
  const argv = ['order', 'create', ...whereWords(context), ...productWords(url)];
  const assembled = await assembleOrder({ ...context, argv }, {}, { base: { products: [{ url }] }, price });
  return orderAssembled(context, assembled, {});
}
