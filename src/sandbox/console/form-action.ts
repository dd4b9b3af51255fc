import { readAmount } from '../../api/amount.ts';
import { characterCount, limits } from '../../api/limits.ts';
import { type Content, html } from '../../platform/html.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';
import { htmlPage } from './html.ts';
import { consolePage, type Page } from './page.ts';
import type { PageName } from './routes.ts';

type Visit<N extends PageName> = Parameters<Page<N>>[0];

/** A link back to the previous page. */
export interface WayBack {
  readonly path: string;
  /** `Back to the order` */
  readonly text: string;
}

/** A form field has an invalid value. The message names the field and says which values the field accepts. */
export class Misfilled extends Error {
  override readonly name = 'Misfilled';
  /** Name of the field. Undefined if the message starts with the label of the field. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/**
 * Wraps a console form handler. Accepts forms from our own pages only. Renders a refusal by the service as a page with
 * a link back, because the state may have changed since the form was rendered.
 * @param act handles the form; it may throw Refusal, Invalid or Misfilled.
 */
export const formAction =
  <N extends PageName>(
    backOf: (visit: Visit<N>) => WayBack,
    act: (visit: Visit<N>, form: URLSearchParams) => SandboxResponse | Promise<SandboxResponse>,
  ): Page<N> =>
  async (visit) => {
    const form = readForm(visit.request);
    if (!(form instanceof URLSearchParams)) return form;
    try {
      return await act(visit, form);
    } catch (error) {
      if (error instanceof Misfilled)
        return refusedForm(errorPage('Not like this', error.message, { status: 400, back: backOf(visit) }), {
          form,
          message: error.message,
          back: backOf(visit),
        });
      if (error instanceof Invalid) {
        const messages = error.issues.map(
          ({ loc, msg }) => html`<p><code>${loc.slice(1).join('.')}</code> ${msg}</p>`,
        );
        const message = error.issues.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`).join('; ');
        return refusedForm(errorPage('Not like this', messages, { status: 422, back: backOf(visit) }), {
          form,
          message,
          back: backOf(visit),
        });
      }
      if (!(error instanceof ErrorResponse)) throw error;
      const { code, message } = error;
      const status = code === 'not_found' ? 404 : code === 'rate_limit_exceeded' ? 429 : 409;
      const response = errorPage('Not now', html`${message} <code>${code}</code>`, {
        status,
        back: backOf(visit),
      });
      return code === 'bad_request'
        ? refusedForm(response, { form, message, back: backOf(visit) })
        : response;
    }
  };

interface Refusal {
  readonly form: URLSearchParams;
  readonly message: string;
  readonly back: WayBack;
}

/** Refusals of forms, keyed by the response that reports the refusal. */
const refusals = new WeakMap<SandboxResponse, Refusal>();

function refusedForm(response: SandboxResponse, refusal: Refusal): SandboxResponse {
  refusals.set(response, refusal);
  return response;
}

/** The refusal of a form that had an invalid value; undefined for any other response. */
export const refusalOf = (response: SandboxResponse): Refusal | undefined => refusals.get(response);

const errorPage = (
  title: string,
  why: Content,
  { status, back }: { readonly status: number; readonly back: WayBack },
): SandboxResponse =>
  consolePage(
    title,
    html`<div class="card" role="alert">${Array.isArray(why) ? why : html`<p>${why}</p>`}</div><p><a href="${back.path}">${back.text}</a></p>`,
    { status, narrow: true },
  );

/** Redirects to a page that is safe to reload. */
export const seeOther = (location: string): SandboxResponse => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store' },
  body: null,
});

/**
 * A hidden field with a token that is unique to the form, so that resubmitting the form has no further effect.
 * @param isPersistent keeps the token when the browser restores the page. Needed for forms that place an order.
 */
export const onceField = ({ isPersistent = false }: { readonly isPersistent?: boolean } = {}): Content =>
  html`<input type="hidden" name="once" value="${crypto.randomUUID()}" autocomplete="off"${isPersistent && html` data-kept`}>`;

/** The token of a form's `onceField`. @throws Misfilled. */
export function onceIn(form: URLSearchParams): string {
  const once = form.get('once') ?? '';
  if (/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(once)) return once;
  throw new Misfilled('This form is not whole: load its page again.');
}

/** Parses a positive dollar amount (`$1,250.00` or just `50`) into cents. @throws Misfilled. */
export function centsIn(form: URLSearchParams, name: string, label: string): number {
  const amount = readAmount(form.get(name) ?? '');
  if (amount.problem !== undefined) throw new Misfilled(`${label} ${amount.problem}.`);
  if (amount.cents > 0) return amount.cents;
  throw new Misfilled(`${label} takes an amount of dollars above 0, such as 50 or $1,250.00.`);
}

/** Maximum size of a small form, in bytes. */
const largestForm = 16 * 1024;

const refused = (status: number, title: string, why: string): SandboxResponse =>
  htmlPage(title, html`<p>${why}</p>`, { status, narrow: true });

/**
 * Parses a form submitted by one of our own pages, or returns the response that rejects it. Checks the origin that
 * browsers send, to prevent cross-site request forgery.
 */
export function readForm(request: SandboxRequest, largest = largestForm): URLSearchParams | SandboxResponse {
  if (!isOurs(request)) return refused(403, 'Not from here', 'This form was sent by another site.');
  if (request.body.length > largest) return refused(413, 'Too large', 'The form is too large.');
  return new URLSearchParams(Buffer.from(request.body).toString('utf8'));
}

/**
 * Checks every header that states an origin. Browsers differ in which of these headers they send, and other clients
 * send none.
 */
function isOurs(request: SandboxRequest): boolean {
  const site = headerOf(request, 'sec-fetch-site') ?? 'none';
  if (site !== 'same-origin' && site !== 'none') return false;
  const from = headerOf(request, 'origin') ?? headerOf(request, 'referer');
  return from === undefined || (isUrl(from) && new URL(from).host === headerOf(request, 'host'));
}

/** The email field of a form; undefined if it is not a valid address. */
export function emailIn(form: URLSearchParams): string | undefined {
  const email = (form.get('email') ?? '').trim();
  const isShort = characterCount(email) <= limits.userEmailLength.max;
  return isShort && /^[^\s@<>]+@[^\s@<>]+$/.test(email) ? email : undefined;
}
