import { html } from '../../../platform/html.ts';
import { type Decision, decideDevice } from '../../keys/device.ts';
import { readQuery } from '../../server/request.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { emailIn, readForm } from './forms.ts';
import { htmlPage } from './html.ts';
import type { Page } from './page.ts';

/** What each button of the form decides. */
const decisions: ReadonlyMap<string | null, Decision> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

/** Where a person approves or denies a device's code. */
export const devicePage: Page<'device'> = async ({ service: { store, clock }, request, search }) => {
  if (request.method !== 'POST') {
    const [code = ''] = readQuery(search).user_code ?? [];
    return deviceForm(code);
  }
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const code = form.get('user_code') ?? '';
  const decision = decisions.get(form.get('decision'));
  if (!decision) return deviceForm(code, 'Approve it, or deny it.');
  const email = (form.get('email') ?? '').trim() === '' ? null : emailIn(form);
  if (email === undefined) return deviceForm(code, 'That is not an email address.');
  const decided = await decideDevice(store, code, { decision, email, now: clock.now() });
  if (!decided) return deviceForm(code, 'No device waits with this code. It may have expired.');
  return htmlPage(
    decision === 'approved' ? 'Approved' : 'Denied',
    html`<div class="card"><p>You can close this page and go back to the device.</p></div>`,
    { narrow: true },
  );
};

const deviceForm = (code: string, problem = ''): SandboxResponse =>
  htmlPage(
    'Sign in a device',
    html`<p class="lead">Approve only a code that your own device shows.</p>
<form method="post" class="card">${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
<label>Code<input name="user_code" class="mono" value="${code}" required autocomplete="off" autocapitalize="characters" spellcheck="false"></label>
<label>Your email, if you like<input name="email" type="email" autocomplete="email"></label>
<div class="actions"><button name="decision" value="approve" class="main">Approve</button><button name="decision" value="deny">Deny</button></div></form>`,
    { status: problem === '' ? 200 : 400, narrow: true },
  );
