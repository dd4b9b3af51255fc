import { defineCommand } from '../../cli/define.ts';
import { eachId, readIds } from '../../run/ids.ts';
import { returnColumns, returnDetailColumns } from './columns.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: 'Read returns by id; links of their labels are made anew',
  arguments: [
    {
      name: 'ids',
      names: 'returns',
      description: 'ids of returns; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand return get $RETURN', note: 'what came of it' },
    { command: 'errand return get $RETURN -o json --query credited_amount', note: 'cents credited so far' },
  ],
  output: [
    { record: 'return.get', when: 'for one id' },
    { list: 'return.get', when: 'for several' },
  ],
  operations: ['return.get'],
  related: ['return list', 'return labels'],
  async run(context, { ids }) {
    const requested = await readIds(context, 'return id', ids);
    const client = await context.client();
    const read = async (id: string) =>
      (await client.call('return.get', { path: { return_request_id: id } })).body;
    const [only] = requested;
    if (only !== undefined && requested.length === 1)
      return { kind: 'record', record: await read(only), columns: returnDetailColumns };
    return {
      kind: 'list',
      columns: returnColumns,
      empty: 'no ids given',
      ...eachId(context, requested, read),
    };
  },
});
