import { uuidPattern } from '../../../api/limits.ts';
import { html } from '../../../platform/html.ts';
import { bringUpToDate } from '../../control/bring-up-to-date.ts';
import { findOrder } from '../../orders/records.ts';
import { json } from '../../server/refusal.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { dateTime } from './figures.ts';
import type { Page } from './page.ts';

/** What `delivery_proof_url` leads to: the picture that a carrier takes at the door. The order's id is the secret. */
export const proofPage: Page<'proof'> = async ({ service, path: { order_id: id, number } }) => {
  const now = service.clock.now();
  await bringUpToDate(service, now, service.patience.forRead(now));
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  const parcel = order?.record.tracking_numbers.find(
    ({ svc_tracking_number: own, delivery_proof_url: url }) => own === number && url !== null,
  );
  if (!parcel) {
    const message = 'There is no proof of delivery here.';
    return json(404, { code: 'not_found', message, details: { resource: 'delivery_proof' } });
  }
  const [last] = parcel.checkpoints ?? [];
  return picture([
    'Delivered: left at the front door',
    `${parcel.carrier} ${parcel.tracking_number}`,
    ...(last ? [dateTime(Date.parse(last.checkpoint_time)), last.city ?? ''] : []),
    'A rehearsal: no carrier was here.',
  ]);
};

function picture(lines: readonly string[]): SandboxResponse {
  const image = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 360" font-family="sans-serif" font-size="16">
<rect width="480" height="360" fill="#e8ebf0"/><rect x="150" y="30" width="180" height="210" fill="#7a5a3c"/>
<circle cx="310" cy="140" r="6" fill="#d9b44a"/><rect x="190" y="180" width="100" height="60" fill="#c69a63"/>
${lines.map((line, index) => html`<text x="240" y="${264 + 20 * index}" text-anchor="middle">${line}</text>`)}</svg>
`;
  return {
    status: 200,
    headers: {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
    },
    body: image.text,
  };
}
