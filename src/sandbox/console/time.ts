import { type Content, html } from '../../platform/html.ts';
import { speeds } from '../control/control.ts';
import type { Service } from '../server/service.ts';
import { advanceForms, whatIsLeft } from './advance.ts';
import { consolePage } from './console-page.ts';
import { timePath } from './console-paths.ts';
import { controlCall } from './control-call.ts';
import { formAction, Misfilled, seeOther } from './form-action.ts';
import { age, dateTime, duration } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { sameFromTerminal } from './same-from-terminal.ts';

type Kept = ReturnType<Awaited<ReturnType<Service['control']>>['snapshots']>[number];

/** The sandbox's clock and its kept states, and what moves and brings them back. */
export const timePage: Page<'consoleTime'> = async ({ service, search }) => {
  const { clock, config } = service;
  const control = await service.control();
  const now = clock.now();
  // Some ms went by since `now`: the machine's time is read later.
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

/** What must be ticked before anything is lost. */
const sure = (what: string): Content =>
  html`<label class="check"><input type="checkbox" name="sure" value="yes" required> ${what}</label>`;

function snapshots({ clock, config }: Service, kept: readonly Kept[]): Content {
  const name = kept[0]?.name ?? 'before';
  return html`${
    kept.length === 0
      ? html`<p class="soft">No state is kept.</p>`
      : html`<table class="stack"><thead><tr><th>Name</th><th class="fit">Kept</th><th>Bring it back</th></tr></thead><tbody>${kept.map(
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

/** @throws Misfilled where it was not ticked. */
function checkSure(form: URLSearchParams, what: string): void {
  if (form.get('sure') !== 'yes') throw new Misfilled(`${what}: tick that this is meant.`);
}

export const setSpeed = formAction<'consoleSpeed'>(back, async ({ service }, form) => {
  const speed = (form.get('speed') ?? '').trim();
  const control = await service.control();
  await control.setSpeed(/^\d{1,9}$/.test(speed) ? Number(speed) : Number.NaN);
  return seeOther(`${timePath}#speed`);
});

export const keepSnapshot = formAction<'consoleSnapshot'>(back, async ({ service }, form) => {
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
