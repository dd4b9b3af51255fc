import { faultGrammar, sandboxFaults } from '../../api/sandbox-faults.ts';
import { type Content, html } from '../../platform/html.ts';
import type { SandboxConfig } from '../config.ts';
import type { Control, Service } from '../server/service.ts';
import { formAction, Misfilled, seeOther } from './form-action.ts';
import type { Page } from './page.ts';
import { consolePage } from './page.ts';
import { faultsPath } from './sections.ts';
import { controlCall, sameFromTerminal } from './terminal-commands.ts';

const maxFaults = 100;
const maxFaultLength = 1000;
const maxSeed = 2 ** 31 - 1;

/** Every fault that can be selected. */
const kinds = Object.keys(sandboxFaults).flatMap((written) => written.split(', '));

/** Page of the faults injected between clients and the service. Shows the active faults and all available faults. */
export const faultsPage: Page<'consoleFaults'> = async ({ service: { config, control } }) => {
  const { faults, seed } = (await control()).faults();
  const body = html`<p class="lead">They fall on requests of programs, never on the console. The first that matches falls, and what changes a response comes on top.</p>
${section('on', 'Switched on', onTable(config, faults))}
${section('add', 'Switch one on', addForms(config))}
${section('seed', 'Seed', seedForm(seed))}
${section(
  'kinds',
  'Available faults',
  html`<dl>${Object.entries(sandboxFaults).map(([written, does]) => html`<dt><code>${written}</code></dt><dd>${does.replaceAll('`', '')}</dd>`)}</dl><p class="soft">${faultGrammar}</p>`,
)}`;
  return consolePage('Faults', body, { live: true, section: 'faults', isList: true });
};

const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;

const onTable = (config: SandboxConfig, faults: readonly string[]): Content =>
  faults.length === 0
    ? html`<p class="soft">None: the network is good.</p>`
    : html`<table class="stack"><thead><tr><th>Fault</th><td></td></tr></thead><tbody>${faults.map(
        (fault) =>
          html`<tr><td class="mono short">${fault}</td><td class="fit"><form method="post" action="${faultsPath}/off"><input type="hidden" name="fault" value="${fault}"><button>Switch off<span class="unseen"> ${fault}</span></button></form></td></tr>`,
      )}</tbody></table><form method="post" action="${faultsPath}/off" class="actions"><button>Switch all off</button></form>${sameFromTerminal(
        config,
        'same-off',
        [
          controlCall(config, 'switching all off', ['fault', '--off'], {
            action: 'faults',
            body: { faults: [] },
          }),
        ],
      )}`;

function addForms(config: SandboxConfig): Content {
  const example = '503:20%@POST /orders';
  return html`<form method="post" action="${faultsPath}/on" class="inline">
<label>What goes wrong<select name="kind">${kinds.map((kind) => html`<option>${kind}</option>`)}</select></label>
<label>Share of the requests, %<input name="share" type="number" min="0.1" max="100" step="any" value="100" required autocomplete="off"></label>
<label>Where, if not everywhere<input name="where" class="mono" placeholder="POST /orders" autocomplete="off" spellcheck="false"></label>
<button>Switch it on</button></form>
<form method="post" action="${faultsPath}/on" class="inline">
<label>Or as --fault takes it<input name="fault" class="mono" required maxlength="${maxFaultLength}" placeholder="${example}" autocomplete="off" spellcheck="false"></label>
<button>Switch on what is written</button></form>${sameFromTerminal(config, 'same-on', [
    controlCall(config, 'switching one on', ['fault', example], {
      action: 'faults',
      body: { add: [example] },
    }),
  ])}`;
}

const seedForm = (seed: number): Content =>
  html`<p class="soft">Which request a fault falls on follows from it. With each change the draws begin anew.</p>
<form method="post" action="${faultsPath}/seed" class="inline"><label>Seed<input name="seed" type="number" min="0" max="${maxSeed}" required value="${seed}" autocomplete="off"></label><button>Begin anew with it</button></form>`;

/** Returns a form handler that applies `change` to the active faults, then redirects to the page. */
const changing =
  (change: (form: URLSearchParams, on: readonly string[], control: Control) => Promise<void>) =>
  async ({ service }: { readonly service: Service }, form: URLSearchParams) => {
    const control = await service.control();
    await change(form, control.faults().faults, control);
    return seeOther(faultsPath);
  };

const back = () => ({ path: faultsPath, text: 'Back to the faults' });

export const switchOn = formAction<'consoleFaultOn'>(
  back,
  changing(async (form, on, control) => {
    const fault = (form.get('fault') ?? composed(form)).trim();
    if (fault.length > maxFaultLength)
      throw new Misfilled(`A fault takes at most ${maxFaultLength} characters.`);
    if (on.includes(fault)) return;
    if (on.length >= maxFaults) throw new Misfilled(`At most ${maxFaults} faults can be on: switch one off.`);
    await control.changeFaults({ add: [fault] });
  }),
);

export const switchOff = formAction<'consoleFaultOff'>(
  back,
  changing(async (form, on, control) => {
    const fault = form.get('fault');
    if (fault === null) await control.changeFaults({ faults: [] });
    else if (on.includes(fault)) await control.changeFaults({ remove: [fault] });
  }),
);

export const setSeed = formAction<'consoleFaultSeed'>(
  back,
  changing(async (form, _, control) => {
    const text = (form.get('seed') ?? '').trim();
    if (!/^\d{1,10}$/.test(text) || Number(text) > maxSeed)
      throw new Misfilled(`Seed takes a whole number from 0 to ${maxSeed}.`);
    await control.changeFaults({ seed: Number(text) });
  }),
);

/** Assembles a fault from its parts, in `--fault` syntax. @throws Misfilled. */
function composed(form: URLSearchParams): string {
  const part = (name: string): string => (form.get(name) ?? '').trim();
  const [kind, share, where] = [part('kind'), part('share'), part('where')];
  if (!kinds.includes(kind)) throw new Misfilled('What goes wrong takes one of the faults of the list.');
  if (!/^\d{1,3}(?:\.\d{1,3})?$/.test(share) || Number(share) <= 0 || Number(share) > 100)
    throw new Misfilled('Share takes a percentage above 0, up to 100, with at most three decimals.');
  if (!/^(?:(?:[A-Z]+ )?\/\S*)?$/.test(where))
    throw new Misfilled('Where takes a path, such as /orders, or a method and a path: POST /orders/*.');
  return `${kind}${Number(share) === 100 ? '' : `:${share}%`}${where === '' ? '' : `@${where}`}`;
}
