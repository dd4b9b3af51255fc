import { isObject, own } from '../api/json.ts';
import { idPattern, uuidPattern } from '../api/limits.ts';
import type { EssentialKind, Operation, Surface } from '../api/operation.ts';
import type { AsSent } from '../format/raw-records.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { parseJson } from './read-body.ts';
import type { ServiceResponse } from './send.ts';
import { readSent } from './sent-records.ts';
import { isHtml } from './service-error.ts';

type Read =
  | { readonly body: unknown; readonly problem?: never }
  | { readonly problem: string; readonly body?: never };

/**
 * Reads a good response. Only what makes it the service's is checked: JSON, with the fields of the table that are
 * essential. Everything else passes as it came, so that the service may grow.
 * @param takeSent takes the records of a list, where they can be told without parsing them.
 * @returns the body, without the records that were taken, or what came in its place, in words.
 */
export function readGoodResponse(
  { response, surface }: Pick<Operation, 'response' | 'surface'>,
  given: ServiceResponse,
  takeSent?: (sent: AsSent) => void,
): Read {
  if (isHtml(given)) return { problem: "HTML, not the service's JSON" };
  if (response.type !== 'json') return { body: undefined };
  if (given.bytes.byteLength === 0) return { problem: `${given.status} with an empty body` };
  const list = takeSent && response.rows !== undefined ? readSent(given.bytes, response.rows) : undefined;
  const body = list ? list.body : parseJson(given.bytes);
  if (body === undefined) return { problem: 'text that is not JSON' };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: "JSON that is not the service's: no object" };
  }
  const rows = response.rows === undefined ? undefined : own(body, response.rows);
  if (response.rows !== undefined && !Array.isArray(rows))
    return { problem: `JSON that is not the service's: it has no ${response.rows}` };
  const wrong = Object.entries(response.essential ?? {}).find(
    ([name, kind]) => !isOfKind[kind](own(body, name), surface),
  );
  if (!wrong) {
    if (list) takeSent?.(list.sent);
    return { body };
  }
  const [name, kind] = wrong;
  const what = own(body, name) === undefined ? `it has no ${name}` : `its ${name} is not ${kindNames[kind]}`;
  return { problem: `JSON that is not the service's: ${what}` };
}

type IsOfKind = (value: unknown, surface: Surface) => boolean;

/**
 * Paths, file names and commands are built from ids, and a secret that was repeated as one must not be kept as one. What
 * the current surface makes has a UUID; the form of the legacy ids is not known.
 */
const isId = (value: unknown, pattern: RegExp): boolean =>
  typeof value === 'string' && pattern.test(value) && redactor.known(value) === value;

const isOfKind: Readonly<Record<EssentialKind, IsOfKind>> = {
  id: (value) => isId(value, idPattern),
  newId: (value, surface) => isId(value, surface === 'current' ? uuidPattern : idPattern),
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
};

const kindNames: Readonly<Record<EssentialKind, string>> = {
  id: 'an id',
  newId: 'an id',
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};
