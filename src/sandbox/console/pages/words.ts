import type { TrackingStatus } from '../../../api/enums.ts';
import {
  hasArrived,
  isLost,
  lineState,
  quantityText,
  type Shortfall,
  type ShownState,
  shortfallOf,
  spoken,
} from '../../../api/order-state.ts';
import { type Html, html } from '../../../platform/html.ts';
import type { OrderItem } from '../../orders/lifecycle/types.ts';

/** A state in words and in a colour. */
export const stateBadge = ({ text, mood }: ShownState): Html =>
  html`<span class="badge ${mood === 'waiting' ? 'wait' : mood}">${text}</span>`;

/** The state of one parcel. */
export const parcelBadge = (status: TrackingStatus): Html =>
  stateBadge({
    text: spoken(status),
    mood: isLost(status) ? 'bad' : hasArrived(status) ? 'good' : 'waiting',
  });

/** How much of a line was bought: `2`, `2 of 5`. */
export const quantityOf = (item: OrderItem, shortfalls: readonly Shortfall[]): string =>
  quantityText(shortfallOf(item, shortfalls) ?? { bought: item.quantity });

/** How a line stands, in words. */
export const lineText = (item: OrderItem, shortfalls: readonly Shortfall[]): string =>
  lineState(item.status, shortfallOf(item, shortfalls) !== undefined)?.text ?? spoken(item.status);

/** An address from outside as a link, if it leads to the web; otherwise as the text it is. */
export function outsideLink(url: string, text = url): Html {
  const leadsToTheWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return leadsToTheWeb ? html`<a href="${url}" rel="noreferrer noopener">${text}</a>` : html`${text}`;
}
