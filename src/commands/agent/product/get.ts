import { defineCommand } from '../../../cli/define.ts';
import { detailColumns } from '../../../orders/products/columns.ts';
import { productArgument } from '../../../orders/products/named.ts';
import { freshnessOptions, noResponse, noSuchProduct } from '../../../orders/products/search.ts';
import { paymentExit, payOptions } from '../pay-options.ts';
import { readPaid } from './read.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: "Read one product's details, for a cent",
  arguments: [productArgument],
  options: { ...freshnessOptions, ...payOptions },
  examples: [
    { command: 'errand agent product get $PRODUCT --retailer harborgoods', note: 'as the retailer shows it' },
  ],
  output: { record: 'agent.product.get' },
  operations: ['agent.product.get', 'retailer.check'],
  exitCodes: { 4: noSuchProduct, 6: paymentExit, 7: noResponse },
  related: ['agent product search', 'product get'],
  async run(context, { id, ...requested }) {
    const record = await readPaid(context, 'agent.product.get', id, requested);
    return { kind: 'record', record, columns: detailColumns, id: 'product_id' };
  },
});
