import type { TrackingStatus } from '../../contract/enums.ts';
import { hasArrived, isLost, type ShownState, spoken } from '../../contract/order-state.ts';
import { type Html, html } from '../../markup.ts';

/** A state in words and in a colour. */
export const stateBadge = ({ text, mood }: ShownState): Html =>
  html`<span class="badge ${mood === 'waiting' ? 'wait' : mood}">${text}</span>`;

/** The state of one parcel. */
export const parcelBadge = (status: TrackingStatus): Html =>
  stateBadge({
    text: spoken(status),
    mood: isLost(status) ? 'bad' : hasArrived(status) ? 'good' : 'waiting',
  });

/** An address from outside as a link, if it leads to the web; otherwise as the text it is. */
export function outsideLink(url: string, text = url): Html {
  const leadsToTheWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return leadsToTheWeb ? html`<a href="${url}" rel="noreferrer noopener">${text}</a>` : html`${text}`;
}
