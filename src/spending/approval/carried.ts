import { UsageError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { readBytes } from '../../run/read-bytes.ts';
import type { Policy } from '../policy/policy.ts';
import { largestDocument, readApprovalText } from './document.ts';
import { keepSigned } from './keep.ts';

const carried = new WeakMap<OrderContext, Promise<string>>();

/**
 * Takes the approval of `--approval FILE` into the journal, once a run, whatever it was used for here before.
 * @returns its id. @throws UsageError for a file that holds none; ErrandError policy where it is not signed by an approver.
 */
export function carriedApproval(
  context: OrderContext,
  policy: Policy,
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return Promise.resolve(undefined);
  const known = carried.get(context) ?? take(context, policy, file);
  carried.set(context, known);
  return known;
}

async function take(context: OrderContext, policy: Policy, file: string): Promise<string> {
  const bytes = await readBytes(context, '--approval', file, {
    bytes: largestDocument,
    holds: 'one approval',
  });
  const given = readApprovalText(file === '-' ? 'stdin' : file, bytes.toString('utf8'));
  if (given.request === undefined)
    throw new UsageError(
      `${file} is a signature alone; --approval takes what \`errand approval export\` writes of an approved one`,
    );
  const { request } = await keepSigned(context, policy, given);
  return request.id;
}
