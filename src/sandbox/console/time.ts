import { type Content, html } from '../../platform/html.ts';
import { speeds } from '../control/control.ts';
import { maxStepMs } from '../control/surface.ts';
import { usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import { consolePage, type Page } from './page.ts';
import { age, dateTime, duration } from './parts.ts';
import { timePath } from './sections.ts';
import { controlCall, sameFromTerminal } from './terminal-commands.ts';

type Snapshot = ReturnType<Awaited<ReturnType<Service['control']>>['snapshots']>[number];

/** Page with the sandbox's clock and snapshots, and with controls to advance the clock and restore a snapshot. */
export const timePage: Page<'consoleTime'> = async ({ service, search }) => {
  const { clock, config } = service;
  const control = await service.control();
  const now = clock.now();
  // Rounds away the few ms between reading `now` and reading real time.
  const ahead = Math.round((now - clock.real()) / 1000) * 1000;
  const hour = 3_600_000;
  const body = html`<p class="lead">All that is due on the way happens: orders, returns, webhooks and their retries.</p>
${whatIsLeft(search)}
${section(
  'clock',
  'Clock',
  html`<dl class="figures"><div><dt>Its time (UTC)</dt><dd><time>${dateTime(now)}</time></dd></div><div><dt>Beside this machine</dt><dd>${
    ahead === 0 ? 'the same' : `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`
  }</dd></div></dl>
${advanceForms()}${sameFromTerminal(config, 'same-advance', [
  controlCall(config, 'advancing an hour', ['advance', '1h'], { action: 'advance', body: { ms: hour } }),
  controlCall(config, 'advancing a day', ['advance', '1d'], { action: 'advance', body: { ms: 24 * hour } }),
])}`,
)}
${section('speed', 'Speed', speedForm(service))}
${section('snapshots', 'Snapshots', snapshots(service, control.snapshots()))}
${section('reset', 'Start anew', resetForm(service))}`;
  return consolePage('Time and state', body, { live: true, section: 'time', isList: true });
};

const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;

const speedForm = ({ config }: Service): Content =>
  html`<p class="soft">Divides every delay of what is created from now on; what has a future already keeps it.</p>
<form method="post" action="${timePath}/speed" class="inline">
<label>Times as fast<input name="speed" type="number" min="${speeds.min}" max="${speeds.max}" required value="${config.speed}" autocomplete="off"></label><button>Set the speed</button></form>${sameFromTerminal(
    config,
    'same-speed',
    [controlCall(config, 'setting the speed', null, { action: 'speed', body: { speed: 10 } })],
    'When it is started, --speed sets it.',
  )}`;

/** Confirmation checkbox for destructive actions. */
const sure = (what: string): Content =>
  html`<label class="check"><input type="checkbox" name="sure" value="yes" required> ${what}</label>`;

function snapshots({ clock, config }: Service, saved: readonly Snapshot[]): Content {
  const name = saved[0]?.name ?? 'before';
  return html`${
    saved.length === 0
      ? html`<p class="soft">No state is kept.</p>`
      : html`<table class="stack"><thead><tr><th>Name</th><th class="fit">Kept</th><th>Bring it back</th></tr></thead><tbody>${saved.map(
          (one) =>
            html`<tr id="snapshot-${one.name}"><td class="mono short">${one.name}</td><td class="fit">${age(one.takenAt, clock.real())}</td>
<td><form method="post" action="${timePath}/restore" class="inline"><input type="hidden" name="name" value="${one.name}">${sure('What happened since is lost')}<button>Restore<span class="unseen"> ${one.name}</span></button></form></td></tr>`,
        )}</tbody></table>`
  }<form method="post" action="${timePath}/snapshot" class="inline">
<label>Name<input name="name" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="letters, digits, . _ -" autocomplete="off" spellcheck="false"></label>
<label class="check"><input type="checkbox" name="force" value="yes"> In place of one of that name</label><button>Keep this state</button></form>${sameFromTerminal(
    config,
    'same-snapshots',
    [
      controlCall(config, 'keeping a state', ['snapshot', 'before'], {
        action: 'snapshot',
        body: { name: 'before' },
      }),
      controlCall(config, 'bringing a state back', ['restore', name], { action: 'restore', body: { name } }),
    ],
  )}`;
}

const resetForm = ({ config }: Service): Content =>
  html`<form method="post" action="${timePath}/reset" class="inline">${sure('All orders, keys and wallets are deleted')}<button>Empty the sandbox</button></form>${sameFromTerminal(
    config,
    'same-reset',
    [controlCall(config, 'emptying the sandbox', ['reset', '--yes'], { action: 'reset', body: {} })],
  )}`;

const back = () => ({ path: timePath, text: 'Back to the time' });

/** @throws Misfilled if the checkbox is not ticked. */
function checkSure(form: URLSearchParams, what: string): void {
  if (form.get('sure') !== 'yes') throw new Misfilled(`${what}: tick that this is meant.`);
}

export const setSpeed = formAction<'consoleSpeed'>(back, async ({ service }, form) => {
  const speed = (form.get('speed') ?? '').trim();
  const control = await service.control();
  await control.setSpeed(/^\d{1,9}$/.test(speed) ? Number(speed) : Number.NaN);
  return seeOther(`${timePath}#speed`);
});

export const saveSnapshot = formAction<'consoleSnapshot'>(back, async ({ service }, form) => {
  const control = await service.control();
  await control.snapshot((form.get('name') ?? '').trim(), { force: form.get('force') === 'yes' });
  return seeOther(`${timePath}#snapshots`);
});

export const restoreSnapshot = formAction<'consoleRestore'>(back, async ({ service }, form) => {
  checkSure(form, 'What happened since is lost');
  const control = await service.control();
  await control.restore(form.get('name') ?? '');
  return seeOther(`${timePath}#snapshots`);
});

export const resetSandbox = formAction<'consoleReset'>(back, async ({ service }, form) => {
  checkSure(form, 'All orders, keys and wallets are deleted');
  const control = await service.control();
  await control.reset();
  return seeOther('/');
});

const hourMs = 3_600_000;

/** Units for clock steps. */
const units = { minutes: 60_000, hours: hourMs, days: 24 * hourMs } as const;
type Unit = keyof typeof units;

/** Time budget for one page load, in ms of real time. The next page has a button to continue. */
const budgetMs = 5000;

interface Sent {
  /** The requested step. */
  readonly step: string;
  readonly response: Promise<SandboxResponse>;
}

/**
 * Responses to submitted forms, for each sandbox. A double-click gets the stored response, and so advances the clock
 * only once.
 */
const sent = new WeakMap<Service, Map<string, Sent>>();
const maxRemembered = 1000;

/**
 * Advances the clock by `ms`, processes everything due on the way, and redirects to `path`. If the time budget runs
 * out, redirects to a page with a button to continue. @param once is the idempotency key of the form; resubmitting the
 * form with a different `step` is refused. @throws Refusal already_exists.
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
    if (known.size <= maxRemembered) break;
    known.delete(oldest);
  }
  return response;
}

async function advance(service: Service, ms: number, path: string): Promise<SandboxResponse> {
  const control = await service.control();
  const { left } = await control.advance(ms, budgetMs);
  return seeOther(left > 0 ? `${timePath}?left=${Math.ceil(left)}` : path);
}

/** Handles the form that advances the clock. */
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
    if (ms > maxStepMs)
      throw new Misfilled(`How far takes at most ${Math.floor(maxStepMs / units.days)} days.`);
    return advanceBy(service, ms, { once: onceIn(form), path: timePath, step: `${ms}` });
  },
);

const isUnit = (name: string): name is Unit => Object.hasOwn(units, name);

/** Renders a button that advances the clock. */
const stepButton = (count: number, unit: Unit | 'ms', name: string): Content =>
  html`<form method="post" action="${timePath}/advance">${onceField()}<input type="hidden" name="count" value="${count}"><input type="hidden" name="unit" value="${unit}"><button>${name}</button></form>`;

/** Renders the clock controls: preset buttons and a free-form step. */
const advanceForms = (): Content =>
  html`<div class="actions">${stepButton(1, 'hours', 'Advance an hour')}${stepButton(1, 'days', 'Advance a day')}</div>
<form method="post" action="${timePath}/advance" class="inline">${onceField()}
<label>How far<input name="count" type="number" min="1" required value="15" autocomplete="off"></label>
<label>In<select name="unit">${Object.keys(units).map((unit) => html`<option value="${unit}">${unit}</option>`)}</select></label><button>Advance</button></form>`;

/**
 * Renders a button for the remainder of a clock step that exceeded the time budget. @param search the page's query
 * string.
 */
function whatIsLeft(search: string): Content {
  const left = new URLSearchParams(search).get('left') ?? '';
  if (!/^[1-9]\d{0,14}$/.test(left)) return null;
  const ms = Number(left);
  return html`<section role="status"><header><h2>There is more to come</h2></header><p>So much happens on the way that the clock has stopped there: ${duration(ms)} left.</p>
<div class="actions">${stepButton(ms, 'ms', 'Go on')}</div></section>`;
}
