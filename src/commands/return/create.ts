import { returnReasons } from '../../api/enums.ts';
import { checkShape } from '../../api/schemas/check.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { issueText } from '../../api/validation.ts';
import { defineCommand } from '../../cli/define.ts';
import { requestReturn } from '../../orders/place-return.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { checkUuid } from '../../run/ids.ts';
import { readDocument } from '../../run/read-document.ts';
import { completeReturn } from './ask.ts';
import { returnDetailColumns } from './columns.ts';
import { parseItems } from './items.ts';
import { labelUrls } from './label-files.ts';

type Body = Shape<'ReturnRequestCreate'>;

export const create = defineCommand({
  name: 'create',
  summary: 'Ask to return items of a placed order',
  description:
    'From flags, a JSON or YAML file, stdin, or prompts. The same command again is safe: it shows the return that an interrupted or recent command requested. --new requests another.',
  options: {
    order: {
      kind: 'text',
      names: 'orders',
      placeholder: 'id',
      description: 'the order, which must be placed',
    },
    item: {
      kind: 'texts',
      placeholder: 'id[=quantity]',
      description:
        'item to return, one unit unless more are said; repeats (default: all that was bought; a terminal asks)',
    },
    reason: {
      kind: 'choice',
      values: returnReasons,
      description: 'reason for the return; it decides the outcome',
    },
    notes: { kind: 'text', description: 'more for the retailer' },
    file: {
      kind: 'text',
      placeholder: 'file|-',
      completes: 'files',
      description: 'a whole payload as JSON or YAML; flags override it',
    },
    new: {
      kind: 'flag',
      description: 'request another return, even if the same one was just requested or is in doubt',
    },
  },
  examples: [
    {
      command: "errand return create --order $ORDER --reason damaged --notes 'torn box'",
      note: 'all of it',
    },
    {
      command: 'errand return create --order $ORDER --item $ITEM=1 --reason wrong_size --dry-run',
      note: 'the request, not sent',
    },
    {
      command: 'errand return create --file return.json -o json --query status',
      note: 'from a file, for a script',
    },
  ],
  output: { record: 'return.create' },
  operations: ['return.create', 'order.get'],
  exitCodes: {
    5: 'not allowed as the order stands, or another return of these items is open',
    10: 'in doubt: sent, and no response came; the same command again is safe',
  },
  related: ['return get', 'return labels', 'order get'],
  async run(context, input) {
    await context.ready();
    const body = await assemble(context, input);
    const { order: record, existed } = await requestReturn(context, body, { isNew: input.new === true });
    if (existed) context.note('a return of these items existed already; nothing was requested twice');
    return {
      kind: 'record',
      record,
      columns: returnDetailColumns,
      hints: [
        labelUrls(record).length > 0
          ? `its labels: ${shellLine`errand return labels ${record.id}`}`
          : `what comes of it: ${shellLine`errand return get ${record.id}`}`,
      ],
    };
  },
});

interface Input {
  readonly order?: string;
  readonly item?: readonly string[];
  readonly reason?: Body['reason'];
  readonly notes?: string;
  readonly file?: string;
}

/** File, flags and prompts to one payload, in that order of precedence. @throws UsageError naming what is refused. */
async function assemble(context: Context, { order, item, reason, notes, file }: Input): Promise<Body> {
  const given = file === undefined ? {} : (await readDocument(context, '--file', file)).value;
  const payload = await completeReturn(context, {
    ...given,
    ...(order !== undefined && { order_id: checkUuid('order id', order) }),
    ...(item && { items: parseItems(item) }),
    ...(reason && { reason }),
    ...(notes !== undefined && { notes }),
  });
  const checked = checkShape('ReturnRequestCreate', payload, 'body');
  if (checked.value) return checked.value;
  const lines = checked.issues.map((issue) => issueText(issue));
  const where = file === undefined ? '' : ` in ${file === '-' ? 'stdin' : file}`;
  throw new UsageError(`the return${where} is not valid: ${lines.join('; ')}`, {
    code: 'validation_error',
    details: { detail: checked.issues },
  });
}
