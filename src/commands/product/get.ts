import { textIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { detailColumns } from '../../orders/products/columns.ts';
import { productArgument } from '../../orders/products/named.ts';
import { saveTitles } from '../../orders/products/pick.ts';
import { freshnessOptions, noResponse, noSuchProduct } from '../../orders/products/search.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { eachId } from '../../run/ids.ts';
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
    if (only !== undefined && ids.length === 1)
      return { kind: 'record', record: await read(only), columns: detailColumns, id: 'product_id' };
    return { kind: 'list', columns: detailColumns, id: 'product_id', ...eachId(context, ids, read) };
  },
});
