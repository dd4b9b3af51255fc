import type { Service } from '../handler.ts';
import { claim, claimable } from '../keys/claims.ts';
import type { SandboxRequest, SandboxResponse } from '../wire.ts';
import { emailIn, readForm } from './forms.ts';
import { escapeHtml, htmlPage } from './html.ts';

export const claimPath = '/claim/';

/** The page that a `claim_url` leads to: a human claims the sandbox, and its key goes on working. */
export function claimPage(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  request: SandboxRequest,
  token: string,
): SandboxResponse {
  const found = claimable(store, token);
  if (!found) return htmlPage(404, 'No such sandbox', '<p>This link claims no sandbox.</p>');
  if (found.claimed) return claimedBefore(found.claimed.by);
  if (request.method !== 'POST') return asking();
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const email = emailIn(form);
  if (email === undefined) return asking('That is no email address.');
  // Another may have been faster.
  if (claim(store, token, email, clock.now()) !== 'claimed')
    return claimPage({ store, clock }, request, token);
  return htmlPage(
    200,
    'Claimed',
    `<p>The sandbox belongs to ${escapeHtml(email)} now. Its key works as before.</p>`,
  );
}

/** Whoever comes later sees enough to know their own address by, and nobody else's. */
const claimedBefore = (email: string): SandboxResponse =>
  htmlPage(
    200,
    'Claimed',
    `<p>This sandbox was claimed by ${escapeHtml(masked(email))}. Its key works as before.</p>`,
  );

const masked = (email: string): string => email.replace(/^(.).*(?=@)/u, '$1…');

const asking = (problem = ''): SandboxResponse =>
  htmlPage(
    problem === '' ? 200 : 400,
    'Claim this sandbox',
    `<p>${escapeHtml(problem)}</p><form method="post"><p><label>Your email <input name="email" type="email" required></label></p>
<p><button>Claim it</button></p></form>`,
  );
