import type { ServiceResponse, TestService } from './service.ts';

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Requests a page as a browser does. */
export const page = (
  service: TestService,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<ServiceResponse> =>
  service.send(method, path, undefined, null, { accept: browserAccept, ...headers });

/** The response to a form, and the address that it leads to, which also names what the form did. */
interface Submitted extends ServiceResponse {
  readonly leadsTo: string;
}

/** Submits a form as a browser does from one of the service's pages. The `location` is that of the page alone. */
export async function submit(
  service: TestService,
  path: string,
  fields: Record<string, string> = {},
  origin = service.baseUrl,
): Promise<Submitted> {
  const response = await service.send('POST', path, new URLSearchParams(fields).toString(), null, {
    'content-type': 'application/x-www-form-urlencoded',
    origin,
  });
  const leadsTo = response.headers.get('location') ?? '';
  const headers = new Headers(response.headers);
  if (leadsTo !== '') headers.set('location', leadsTo.replace(/[?&]did=\d+/, ''));
  return { ...response, headers, leadsTo };
}

/** The cells of a row as plain text. */
export function rowOf(markup: string, id: string): string[] {
  const row = new RegExp(`<tr id="${id}">(.*?)</tr>`, 's').exec(markup)?.[1] ?? '';
  return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
    cell
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/** Strips markup, leaving visible text. */
export const textOf = (markup: string): string =>
  markup
    // Names in JSON.
    .replace(/<\/?b>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ,/g, ',')
    .trim();

/** The one-time token in a page's first form. */
export const onceOf = (markup: string): string => /name="once" value="([^"]+)"/.exec(markup)?.[1] ?? '';
