import type { ServiceResponse, TestService } from '../service.ts';

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** A page as a browser asks for it. */
export const page = (
  service: TestService,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<ServiceResponse> =>
  service.send(method, path, undefined, null, { accept: browserAccept, ...headers });

/** A form as a browser sends it from one of the service's own pages. */
export const submit = (
  service: TestService,
  path: string,
  fields: Record<string, string> = {},
  origin = service.baseUrl,
): Promise<ServiceResponse> =>
  service.send('POST', path, new URLSearchParams(fields).toString(), null, {
    'content-type': 'application/x-www-form-urlencoded',
    origin,
  });

/** The text of each cell of a row, as it is read. */
export function rowOf(markup: string, id: string): string[] {
  const row = new RegExp(`<tr id="${id}">(.*?)</tr>`, 's').exec(markup)?.[1] ?? '';
  return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
    cell
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/** Markup as it is read. */
export const textOf = (markup: string): string =>
  markup
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ,/g, ',')
    .trim();

/** The name in the first form of a page that makes what it does happen once. */
export const onceOf = (markup: string): string => /name="once" value="([^"]+)"/.exec(markup)?.[1] ?? '';
