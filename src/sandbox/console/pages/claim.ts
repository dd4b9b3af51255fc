import { html } from '../../../platform/html.ts';
import { claim, claimable } from '../../keys/claims.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { emailIn, readForm } from './forms.ts';
import { htmlPage } from './html.ts';
import type { Page } from './page.ts';

const narrow = true;

/** The page that a `claim_url` leads to: a human claims the sandbox, and its key goes on working. */
export const claimPage: Page<'claim'> = async (visit) => {
  const { service, request, path } = visit;
  const { store, clock } = service;
  const { token } = path;
  const found = claimable(store, token);
  if (!found)
    return htmlPage('No such sandbox', html`<p>This link claims no sandbox.</p>`, { status: 404, narrow });
  if (found.claimed) return claimedBefore(found.claimed.by);
  if (request.method !== 'POST') return formPage();
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const email = emailIn(form);
  if (email === undefined) return formPage('That is not an email address.');
  // Another may have been faster.
  if ((await claim(store, token, email, clock.now())) !== 'claimed') return claimPage(visit);
  return htmlPage(
    'Claimed',
    html`<div class="card"><p>The sandbox belongs to ${email} now. Its key works as before.</p></div>`,
    { narrow },
  );
};

/** A later visitor sees enough to recognise an own address, and no more. */
const claimedBefore = (email: string): SandboxResponse =>
  htmlPage(
    'Claimed',
    html`<div class="card"><p>This sandbox was claimed by ${masked(email)}. Its key works as before.</p></div>`,
    { narrow },
  );

const masked = (email: string): string => email.replace(/^(.).*(?=@)/u, '$1…');

const formPage = (problem = ''): SandboxResponse =>
  htmlPage(
    'Claim this sandbox',
    html`<p class="lead">A claimed sandbox has an owner. Nothing else changes: its key works as before.</p>
<form method="post" class="card">${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
<label>Your email<input name="email" type="email" required autocomplete="email"></label>
<button class="main">Claim it</button></form>`,
    { status: problem === '' ? 200 : 400, narrow },
  );
