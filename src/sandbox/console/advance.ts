import { type Content, html } from '../../platform/html.ts';
import { usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { timePath } from './console-paths.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import { duration } from './pages/figures.ts';

const hourMs = 3_600_000;

/** What a step of the clock is counted in. */
const units = { minutes: 60_000, hours: hourMs, days: 24 * hourMs } as const;
type Unit = keyof typeof units;

/** Longest step, ms: as long as the time that a sandbox can reach. */
const longestMs = 1e15;

/** How long a person waits for a page, ms of the machine's time; what is left then is a button on the next. */
const budgetMs = 5000;

interface Sent {
  /** What was asked for. */
  readonly step: string;
  readonly response: Promise<SandboxResponse>;
}

/** What forms that were sent came to, by the sandbox that they were sent to: a double click moves the clock once. */
const sent = new WeakMap<Service, Map<string, Sent>>();
const mostRemembered = 1000;

/**
 * Moves the clock by `ms` through all that is due on the way, and leads back to `path`; where that takes long, to a page
 * with a button that goes on. @param once the name of the form, which moves it once; with another `step`, as it was asked for,
 * it is refused. @throws Refusal already_exists.
 */
export function advanceBy(
  service: Service,
  ms: number,
  { once, path, step }: { readonly once: string; readonly path: string; readonly step: string },
): Promise<SandboxResponse> {
  const known = sent.get(service) ?? new Map<string, Sent>();
  sent.set(service, known);
  const before = known.get(once);
  if (before && before.step !== step) throw usedForm('moved the clock');
  if (before) return before.response;
  const response = advance(service, ms, path);
  known.set(once, { step, response });
  for (const oldest of known.keys()) {
    if (known.size <= mostRemembered) break;
    known.delete(oldest);
  }
  return response;
}

async function advance(service: Service, ms: number, path: string): Promise<SandboxResponse> {
  const control = await service.control();
  const { left } = await control.advance(ms, budgetMs);
  return seeOther(left > 0 ? `${timePath}?left=${Math.ceil(left)}` : path);
}

/** Moves the clock as a form of the page says. */
export const advanceClock = formAction<'consoleAdvance'>(
  () => ({ path: timePath, text: 'Back to the time' }),
  ({ service }, form) => {
    const count = (form.get('count') ?? '').trim();
    const unit = form.get('unit') ?? '';
    if (!/^\d{1,15}$/.test(count) || Number(count) === 0)
      throw new Misfilled('How far takes a whole number above 0.');
    if (unit !== 'ms' && !isUnit(unit))
      throw new Misfilled(`The clock goes forward in ${Object.keys(units).join(', ')}.`);
    const ms = Number(count) * (unit === 'ms' ? 1 : units[unit]);
    if (ms > longestMs)
      throw new Misfilled(`How far takes at most ${Math.floor(longestMs / units.days)} days.`);
    return advanceBy(service, ms, { once: onceIn(form), path: timePath, step: `${ms}` });
  },
);

const isUnit = (name: string): name is Unit => Object.hasOwn(units, name);

/** A button that moves the clock. */
const stepButton = (count: number, unit: Unit | 'ms', name: string): Content =>
  html`<form method="post" action="${timePath}/advance">${onceField()}<input type="hidden" name="count" value="${count}"><input type="hidden" name="unit" value="${unit}"><button>${name}</button></form>`;

/** How far the clock can be moved: by a button, or as far as is filled in. */
export const advanceForms = (): Content =>
  html`<div class="actions">${stepButton(1, 'hours', 'Advance an hour')}${stepButton(1, 'days', 'Advance a day')}</div>
<form method="post" action="${timePath}/advance" class="inline">${onceField()}
<label>How far<input name="count" type="number" min="1" required value="15" autocomplete="off"></label>
<label>In<select name="unit">${Object.keys(units).map((unit) => html`<option value="${unit}">${unit}</option>`)}</select></label><button>Advance</button></form>`;

/** What is left of a step that would have taken long. @param search the query of the page. */
export function whatIsLeft(search: string): Content {
  const left = new URLSearchParams(search).get('left') ?? '';
  if (!/^[1-9]\d{0,14}$/.test(left)) return null;
  const ms = Number(left);
  return html`<section role="status"><header><h2>There is more to come</h2></header><p>So much happens on the way that the clock has stopped there: ${duration(ms)} left.</p>
<div class="actions">${stepButton(ms, 'ms', 'Go on')}</div></section>`;
}
