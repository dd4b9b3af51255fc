import { failedOrderStatuses, type OrderStatus, type TrackingStatus } from '../../contract/enums.ts';
import { type Html, html } from '../../markup.ts';

const failed: readonly string[] = failedOrderStatuses satisfies readonly OrderStatus[];

export const isFailed = (status: string): boolean => failed.includes(status);

const badEnds: readonly string[] = ['undeliverable'] satisfies readonly TrackingStatus[];
const goodEnds: readonly string[] = ['order_placed', 'delivered', 'available_for_pickup'] satisfies readonly (
  | OrderStatus
  | TrackingStatus
)[];

/** A state of an order or a parcel, in words and in a colour. */
export function stateBadge(status: string): Html {
  const mood =
    isFailed(status) || badEnds.includes(status) ? 'bad' : goodEnds.includes(status) ? 'good' : 'wait';
  return html`<span class="badge ${mood}">${spoken(status)}</span>`;
}

/** The states of parcels in the order in which they stand for those of a whole order. */
const furthest = [
  'in_transit',
  'undeliverable',
  'available_for_pickup',
  'delivered',
] as const satisfies readonly TrackingStatus[];

/** How far an order has come: where its parcels are, once each has left. */
export function reached(status: string, parcels: readonly { readonly status: string }[]): string {
  const isWaiting = parcels.some((parcel) => parcel.status === 'pending');
  if (status !== 'order_placed' || isWaiting) return status;
  return furthest.find((state) => parcels.some((parcel) => parcel.status === state)) ?? status;
}

/** A value of the wire as people write it. */
export const spoken = (name: string): string => name.replaceAll('_', ' ');

/** An address from outside as a link, if it leads to the web; otherwise as the text it is. */
export function outsideLink(url: string, text = url): Html {
  const leadsToTheWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return leadsToTheWeb ? html`<a href="${url}" rel="noreferrer noopener">${text}</a>` : html`${text}`;
}
