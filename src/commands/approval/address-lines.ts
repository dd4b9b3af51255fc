import { textIn } from '../../api/json.ts';
import type { ApprovalRequest } from '../../journal/approval-row.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readDocument } from '../../run/read-document.ts';
import { notApproved } from '../../spending/approval/carried.ts';
import { differences } from '../../spending/approval/covers.ts';
import { subjectOf } from '../../spending/approval/subject.ts';

/**
 * Reads the address of the order under approval from its order file; empty without a file.
 * @throws ErrandError policy if the file describes a different order.
 */
export async function addressLinesOf(
  context: Context,
  request: ApprovalRequest,
  file: string | undefined,
): Promise<string[]> {
  if (file === undefined) return [];
  if (request.subject !== 'order')
    throw new UsageError(`--file is for an order, and ${request.id} is about a whole ${request.subject}`);
  const { value } = await readDocument(context, '--file', file, ['max_price']);
  const { checkOrder } = await import('../../orders/input/check.ts');
  const body = await checkOrder(value, file);
  const { service: baseUrl, account, profile, operation, is_rehearsal: isRehearsal } = request;
  const intent = {
    baseUrl,
    account,
    profile,
    operation,
    key: '',
    keyMasked: '',
    keyOrigin: 'made',
    body,
  } as const;
  const different = differences(request, subjectOf([intent], { isRehearsal }));
  if (different.length > 0)
    throw notApproved(
      `${file} is not what approval ${request.id} is about: that is for ${different.join(' and ')}`,
    );
  const to = body.shipping_address;
  return [
    `to ${to.first_name} ${to.last_name}`,
    ...['address_line1', 'address_line2'].flatMap((name) => textIn(to, name) ?? []),
    `${[to.city, to.state, to.postal_code].filter(Boolean).join(' ')}, ${to.country}`,
  ];
}
