import { html } from '../../../platform/html.ts';

/** `1999, USD` as `$19.99`. */
export const money = (cents: number, currency = 'USD'): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(cents / 100);

const units = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
  { ms: 1000, name: 's' },
] as const;

/** A length of time in its largest whole unit, `3 min`. */
export function duration(ms: number): string {
  const unit = units.find((candidate) => ms >= candidate.ms);
  return unit ? `${Math.floor(ms / unit.ms)} ${unit.name}` : '0 s';
}

/** How long before `now` (both ms) something was or will be, with the time itself for whoever points at it. */
export function age(at: number, now: number) {
  const iso = new Date(at).toISOString();
  const text = at > now ? `in ${duration(at - now + 999)}` : `${duration(now - at)} ago`;
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`;
}

/** `2026-03-01 12:00:00` */
export const dateTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
