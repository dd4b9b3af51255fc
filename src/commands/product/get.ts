import { type JsonObject, textIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { lineWords } from '../../orders/input/prompts.ts';
import { detailColumns, detailScreen } from '../../orders/products/columns.ts';
import { productArgument } from '../../orders/products/named.ts';
import { saveTitles } from '../../orders/products/pick.ts';
import { factsOf } from '../../orders/products/product-facts.ts';
import { freshnessOptions, noResponse, noSuchProduct } from '../../orders/products/search.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { shellWord } from '../../platform/shell.ts';
import { eachId } from '../../run/ids.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { readProduct, waitOption } from './read.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: "Read products' details",
  arguments: [{ ...productArgument, name: 'ids', variadic: true }],
  options: { ...freshnessOptions, ...waitOption },
  examples: [
    { command: 'errand product get $PRODUCT --retailer harborgoods', note: 'as the retailer shows it' },
    {
      command: 'errand product get $PRODUCT --retailer harborgoods --max-age 60 --wait -o json --query price',
      note: 'not older than a minute',
    },
  ],
  output: [
    { record: 'product.get', when: 'for one id' },
    { list: 'product.get', when: 'for several' },
  ],
  operations: ['product.get', 'retailer.check'],
  exitCodes: { 4: noSuchProduct, 7: noResponse, 8: 'with --wait: --timeout passed' },
  related: ['product search', 'product offers'],
  async run(context, { ids, ...requested }) {
    const [only] = ids;
    const read = async (id: string) => {
      const product = await readProduct(context, 'product.get', id, requested);
      const [title, url] = [textIn(product, 'title'), textIn(product, 'url')];
      await saveTitles(context, [
        [isUrl(id) ? id : url, title],
        [url, title],
      ]);
      return product;
    };
    if (only !== undefined && ids.length === 1) {
      const record = await read(only);
      const flag = isOnScreen(context) ? variantFlag(record) : undefined;
      const hints = flag === undefined ? [] : [`order a variant: errand order create --product ${flag}`];
      return {
        kind: 'record',
        record,
        columns: detailColumns,
        screen: detailScreen,
        id: 'product_id',
        hints,
      };
    }
    return { kind: 'list', columns: detailColumns, id: 'product_id', ...eachId(context, ids, read) };
  },
});

/**
 * Value for `order create --product` that selects the first variant in stock. Undefined if the product has no such
 * variant.
 */
function variantFlag(product: JsonObject): string | undefined {
  const url = textIn(product, 'url');
  const variant = factsOf(product).variants.find(({ isSoldOut }) => !isSoldOut);
  const [, word] = url === undefined || !variant ? [] : lineWords({ url, variant: [...variant.choices] });
  return word === undefined ? undefined : shellWord(word);
}
