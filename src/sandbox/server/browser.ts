import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** Whether an Accept header (RFC 9110, 12.5.1) prefers a page to JSON. A request that takes either gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  if (last?.accept !== accept)
    last = { accept, prefers: quality(accept, 'text', 'html') > quality(accept, 'application', 'json') };
  return last.prefers;
}

/** Several look at the header of one request, and a client sends the same each time. */
let last: { readonly accept: string; readonly prefers: boolean } | undefined;

/** The preference for a type, 0 to 1, by the most specific range that covers it. */
function quality(accept: string, type: string, subtype: string): number {
  const found = accept.split(',').flatMap((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const closeness = [`*/*`, `${type}/*`, `${type}/${subtype}`].indexOf(name);
    if (closeness < 0) return [];
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const q = given === undefined ? 1 : Number(given);
    return [{ closeness, q: q >= 0 && q <= 1 ? q : 0 }];
  });
  return found.toSorted((one, other) => other.closeness - one.closeness)[0]?.q ?? 0;
}

/** The refusal of a body, in the form that its sender reads: a browser shows what it gets. @param refusal in JSON. */
export async function forReader(
  request: Pick<SandboxRequest, 'headers'>,
  refusal: SandboxResponse,
): Promise<SandboxResponse> {
  if (!prefersHtml(headerOf(request, 'accept'))) return refusal;
  const [{ htmlPage }, { html }] = await Promise.all([
    import('../console/html.ts'),
    import('../../platform/html.ts'),
  ]);
  const { message }: { message: string } = JSON.parse(String(refusal.body));
  const page = htmlPage('Not taken', html`<p class="lead">${message}</p>`, {
    status: refusal.status,
    narrow: true,
  });
  return { ...page, headers: { ...refusal.headers, ...page.headers } };
}
