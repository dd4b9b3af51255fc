import { type Decision, decideDevice } from '../device/codes.ts';
import type { Service } from '../handler.ts';
import { readQuery, readTarget } from '../read-request.ts';
import type { SandboxRequest, SandboxResponse } from '../wire.ts';
import { emailIn, readForm } from './forms.ts';
import { escapeHtml, htmlPage } from './html.ts';

export const devicePath = '/device';

/** What each button of the form decides. */
const decisions: ReadonlyMap<string | null, Decision> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

/** Where a person approves or denies a device's code. */
export function devicePage(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  request: SandboxRequest,
): SandboxResponse {
  if (request.method !== 'POST') {
    const [code = ''] = readQuery(readTarget(request.target).search).user_code ?? [];
    return asking(code);
  }
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const code = form.get('user_code') ?? '';
  const decision = decisions.get(form.get('decision'));
  if (!decision) return asking(code, 'Approve it, or deny it.');
  const email = (form.get('email') ?? '').trim() === '' ? null : emailIn(form);
  if (email === undefined) return asking(code, 'That is no email address.');
  const decided = decideDevice(store, code, { decision, email, now: clock.now() });
  if (!decided) return asking(code, 'No device waits with this code. It may have expired.');
  return htmlPage(
    200,
    decision === 'approved' ? 'Approved' : 'Denied',
    '<p>You can close this page and go back to the device.</p>',
  );
}

const asking = (code: string, problem = ''): SandboxResponse =>
  htmlPage(
    problem === '' ? 200 : 400,
    'Sign a device in',
    `<p>${escapeHtml(problem)}</p><p>Approve only a code that your own device shows.</p>
<form method="post"><p><label>Code <input name="user_code" value="${escapeHtml(code)}" required autocomplete="off"></label></p>
<p><label>Your email, if you like <input name="email" type="email"></label></p>
<p><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></p></form>`,
  );
