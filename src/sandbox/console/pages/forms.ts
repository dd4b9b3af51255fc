import { characterCount, limits } from '../../../api/limits.ts';
import { html } from '../../../platform/html.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from '../../server/wire.ts';
import { htmlPage } from './html.ts';

/** Largest form of a few fields, bytes. */
const largestForm = 16 * 1024;

const refused = (status: number, title: string, why: string): SandboxResponse =>
  htmlPage(title, html`<p>${why}</p>`, { status, narrow: true });

/**
 * The fields of a form that one of our own pages sent; otherwise the response that refuses it. A browser names the page
 * that a form comes from, so another site cannot send one in a person's name.
 */
export function readForm(request: SandboxRequest, largest = largestForm): URLSearchParams | SandboxResponse {
  if (!isOurs(request)) return refused(403, 'Not from here', 'This form was sent by another site.');
  if (request.body.length > largest) return refused(413, 'Too large', 'The form is too large.');
  return new URLSearchParams(Buffer.from(request.body).toString('utf8'));
}

/** Each browser says so in its own way, some in several; a client that is not a browser says nothing. */
function isOurs(request: SandboxRequest): boolean {
  const site = headerOf(request, 'sec-fetch-site') ?? 'none';
  if (site !== 'same-origin' && site !== 'none') return false;
  const from = headerOf(request, 'origin') ?? headerOf(request, 'referer');
  return from === undefined || (URL.canParse(from) && new URL(from).host === headerOf(request, 'host'));
}

/** An email of a form; undefined for a text that is not an email address. */
export function emailIn(form: URLSearchParams): string | undefined {
  const email = (form.get('email') ?? '').trim();
  const isShort = characterCount(email) <= limits.userEmailLength.max;
  return isShort && /^[^\s@<>]+@[^\s@<>]+$/.test(email) ? email : undefined;
}
