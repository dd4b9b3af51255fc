import type { Shape } from '../../../api/schemas/index.ts';
import { type Content, html } from '../../../platform/html.ts';
import { dateTime } from './figures.ts';
import { parcelBadge } from './words.ts';

type Shipment = Shape<'PublicTrackingResponse'>['shipments'][number];
type Checkpoint = Shipment['checkpoints'][number];

/** Each parcel with the way it went, newest checkpoint first. */
export const parcels = (shipments: readonly Shipment[]): Content =>
  shipments.length === 0
    ? html`<p class="soft">No parcel.</p>`
    : shipments.map(
        ({
          carrier,
          tracking_number,
          status,
          estimated_delivery_date,
          checkpoints,
        }) => html`<div class="parcel">
<p><strong>${carrier}</strong> <span class="mono">${tracking_number}</span> ${parcelBadge(status)}${
          estimated_delivery_date !== null &&
          (status === 'pending' || status === 'in_transit') &&
          html` <span class="soft">expected ${estimated_delivery_date}</span>`
        }</p>${checkpoints.length > 0 && journey(checkpoints)}</div>`,
      );

const journey = (checkpoints: readonly Checkpoint[]): Content => html`<table class="stack"><thead><tr>
<th class="fit">Time (UTC)</th><th class="half">What</th><th>Where</th></tr></thead><tbody>${checkpoints.map(
  (checkpoint) =>
    html`<tr><td class="fit number"><time datetime="${checkpoint.checkpoint_time}">${dateTime(
      Date.parse(checkpoint.checkpoint_time),
    )}</time></td><td class="half">${checkpoint.message}</td><td>${placeOf(checkpoint)}</td></tr>`,
)}</tbody></table>`;

const placeOf = ({ location, city, state, country }: Checkpoint): string =>
  location ?? [city, state, country].filter((part) => part !== null && part !== '').join(', ');
