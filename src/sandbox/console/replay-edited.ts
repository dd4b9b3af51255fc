import { webhookIdHeader } from '../../api/events.ts';
import { type Content, html } from '../../platform/html.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { addressOf, readDelivery } from '../webhooks/read.ts';
import { refusedTarget, replayEdited } from '../webhooks/replay.ts';
import { consolePage, notThere } from './console-page.ts';
import { deliveriesPath } from './deliveries-table.ts';
import { Misfilled, onceField, onceIn, seeOther } from './form-action.ts';
import { ordersPath } from './orders.ts';
import { readForm } from './pages/forms.ts';
import type { Page } from './pages/page.ts';
import { receiverCall } from './receiver-call.ts';
import { sameFromTerminal } from './same-from-terminal.ts';

type Found = NonNullable<ReturnType<typeof readDelivery>>;

/** A form writes each letter in up to nine bytes; bytes. */
const largestForm = 512 * 1024;
/** More text than this is no matter for a page, characters. */
const longestEdited = 24_000;
/** Nor is a longer call a line to be copied, characters. */
const longestCall = 10_000;

export const editPath = (deliveryId: string): string => `${deliveriesPath}/${deliveryId}/edit`;

/** A delivery to be sent once more, with another body or to another receiver. */
export const replayEditedPage: Page<'consoleReplayEdited'> = async ({ service, request, path: { id } }) => {
  const form = request.method === 'POST' ? readForm(request, largestForm) : undefined;
  if (form && !(form instanceof URLSearchParams)) return form;
  const found = readDelivery(service.store, id);
  if (!found)
    return notThere('No such delivery', 'There is no such delivery any more.', { section: 'deliveries' });
  if (!form) return formPage(service, found);
  try {
    return await send(service, found, form);
  } catch (error) {
    if (error instanceof Misfilled)
      return formPage(service, found, { form, problem: error.message, status: 400 });
    if (!(error instanceof Refusal)) throw error;
    // What was typed stands in a form of its own now, which sends it.
    const problem =
      'Not sent: this form has sent a delivery already, with other values. Send it again if you mean a second one.';
    return formPage(service, found, { form, problem, status: 409 });
  }
};

async function send(service: Service, found: Found, form: URLSearchParams): Promise<SandboxResponse> {
  const { store, config, clock } = service;
  const given = (form.get('url') ?? '').trim();
  const url = given === '' ? found.url : given;
  const refusal = refusedTarget(url, config.webhooks);
  if (refusal !== undefined) throw new Misfilled(`Nothing is sent there: ${refusal}.`);
  // A form ends each line as a mail does.
  const text = (form.get('body') ?? '').replaceAll('\r\n', '\n');
  const body = text === editable(found.body) ? found.body : text;
  const isNewEvent = form.get('event') !== 'same';
  const edited = { newId: onceIn(form), url, body, isNewEvent };
  await replayEdited(store, found.id, edited, clock.now());
  return seeOther(`${ordersPath}/${found.orderId}#deliveries`);
}

/** JSON with a line for each member, and every character that a page would not show as it is by its number. */
function editable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).replace(
      /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
      (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  } catch {
    // It was edited before, into what is no JSON.
    return body;
  }
}

interface Filled {
  readonly form: URLSearchParams;
  readonly problem: string;
  readonly status: number;
}

function formPage({ config }: Service, found: Found, filled?: Filled): SandboxResponse {
  const { id, orderId, event, eventId, url } = found;
  const text = filled?.form.get('body') ?? editable(found.body);
  const isSame = filled?.form.get('event') === 'same';
  const title = `Replay ${event}, edited`;
  if (text.length > longestEdited)
    return consolePage(
      title,
      html`<p class="lead">Its body is too large to be edited on a page. ${back(orderId)}</p>`,
      { section: 'deliveries' },
    );
  const page = html`<p class="lead">What you send is a delivery of its own. ${back(orderId)}</p>
<form method="post" action="${editPath(id)}" class="card">${onceField()}${
    filled && html`<p class="bad" role="alert">${filled.problem}</p>`
  }
<label>Another target<input name="url" type="url" class="mono" placeholder="${addressOf(url)}" value="${filled?.form.get('url') ?? ''}" autocomplete="off" spellcheck="false" aria-describedby="target-note"></label>
<p class="soft" id="target-note">Left empty, it goes where it went: <span class="mono">${addressOf(url)}</span>. ${reachOf(config.webhooks.external)}</p>
<label>Body<textarea name="body" class="mono" rows="24" spellcheck="false">
${text}</textarea></label>
<label>${webhookIdHeader}<select name="event"><option value="new"${!isSame && html` selected`}>a new one: a receiver takes it for another event</option><option value="same"${isSame && html` selected`}>the same, ${eventId.slice(0, 8)}: a receiver may know it already</option></select></label>
<div class="actions"><button class="main">Send it</button></div></form>
${found.body.length <= longestCall && sameFromTerminal(config, 'same-replay', [{ what: 'sending it', errand: null, curl: receiverCall(found) }], 'Sends the body as it was, straight to the receiver whose address stands in WEBHOOK_URL.')}`;
  return consolePage(title, page, { status: filled?.status ?? 200, section: 'deliveries', copies: true });
}

const back = (orderId: string): Content =>
  html`<a href="${ordersPath}/${orderId}">Order ${orderId.slice(0, 8)}</a>`;

const reachOf = (external: boolean): string =>
  external
    ? 'Loopback and external addresses are called.'
    : 'Loopback addresses are called, and others that --allow-webhook named when the sandbox was started.';
