import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** Whether an Accept header (RFC 9110, 12.5.1) prefers HTML to JSON. JSON wins ties. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  if (last?.accept !== accept)
    last = { accept, prefers: quality(accept, 'text', 'html') > quality(accept, 'application', 'json') };
  return last.prefers;
}

/** Caches the last result, because a request is checked several times, and a client sends the same header each time. */
let last: { readonly accept: string; readonly prefers: boolean } | undefined;

/** Quality value of a media type, 0 to 1, from the most specific matching range. */
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

/** Converts a refusal to the format the client reads. Browsers get a page. @param errorResponse the refusal as JSON. */
export async function forReader(
  request: Pick<SandboxRequest, 'headers'>,
  errorResponse: SandboxResponse,
): Promise<SandboxResponse> {
  if (!prefersHtml(headerOf(request, 'accept'))) return errorResponse;
  const [{ htmlPage }, { html }] = await Promise.all([
    import('../console/html.ts'),
    import('../../platform/html.ts'),
  ]);
  const { message }: { message: string } = JSON.parse(String(errorResponse.body));
  const page = htmlPage('Not taken', html`<p class="lead">${message}</p>`, {
    status: errorResponse.status,
    narrow: true,
  });
  return { ...page, headers: { ...errorResponse.headers, ...page.headers } };
}
