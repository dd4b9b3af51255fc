import type { MilestoneType } from '../../../contract/enums.ts';
import { type Content, html } from '../../../markup.ts';
import { milestones, nextDue, type OrderState } from '../../orders/lifecycle/index.ts';
import { age, dateTime } from '../figures.ts';

const badTurns: readonly string[] = [
  'order_failed',
  'cancelled',
  'undeliverable',
] satisfies readonly MilestoneType[];

/** What the order went through, oldest first, and when it goes on. @param now ms since the epoch. */
export function timeline({ record, plan }: OrderState, now: number): Content {
  const began = Date.parse(record.created_at);
  const due = nextDue(plan);
  return html`<ol class="timeline">${milestones(record).milestones.map(
    ({ type, label, occurred_at, source, detail }) => {
      const at = Date.parse(occurred_at);
      return html`<li class="${badTurns.includes(type) ? 'bad' : 'done'}"><strong>${label}</strong> <small><time datetime="${occurred_at}">${dateTime(at)}</time>${
        at > began && ` · ${sinceStart(at - began)}`
      } · ${source}</small>${detail !== null && html`<br><small>${inWords(detail)}</small>`}</li>`;
    },
  )}${due !== null && html`<li class="next soft">${due > now ? html`next step ${age(due, now)}` : 'next step now'}</li>`}</ol>`;
}

/** The parts of a milestone's detail; the code of an error stands with its order already. */
const inWords = ({ error_type: _, ...detail }: Readonly<Record<string, unknown>>): string =>
  Object.values(detail).flat().join(' ');

/** `+2.5 s`, and in minutes once tenths of a second say nothing. */
const sinceStart = (ms: number): string =>
  ms < 60_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${Math.round(ms / 60_000).toLocaleString('en-US')} min`;
