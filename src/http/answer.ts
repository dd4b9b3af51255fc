import { idPattern, uuidPattern } from '../contract/limits.ts';
import type { Operation, Surface } from '../contract/operation.ts';
import { redactor } from '../redact/redactor.ts';
import { parseJson } from './read-body.ts';
import { isHtml } from './refusal.ts';
import type { Answer } from './send.ts';

type Read =
  | { readonly body: unknown; readonly problem?: never }
  | { readonly problem: string; readonly body?: never };

/**
 * Reads a good answer. Only what makes it the service's is checked: JSON, with the fields of the table that are
 * essential. Everything else passes as it came, so that the service may grow.
 * @returns the body, or what came in its place, in words.
 */
export function readGoodAnswer(
  { answer, surface }: Pick<Operation, 'answer' | 'surface'>,
  given: Answer,
): Read {
  if (isHtml(given)) return { problem: "HTML, not the service's JSON" };
  if (answer.type !== 'json') return { body: undefined };
  if (given.bytes.byteLength === 0) return { problem: `${given.status} with an empty body` };
  const body = parseJson(given.bytes);
  if (body === undefined) return { problem: 'text that is not JSON' };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: "JSON that is not the service's: no object" };
  }
  const missing = [...(answer.essential ?? []), ...(answer.rows === undefined ? [] : [answer.rows])].find(
    (name) => !isThere(body, name, name === answer.rows),
  );
  if (missing !== undefined) return { problem: `JSON that is not the service's: it has no ${missing}` };
  const wrong = (answer.essential ?? []).find(
    (name) => idNames.includes(name) && !isId(surface, Reflect.get(body, name), name === answer.made),
  );
  return wrong === undefined
    ? { body }
    : { problem: `JSON that is not the service's: its ${wrong} is not an id` };
}

const idNames: readonly string[] = ['id', 'short_id', 'order_id', 'request_id'];

/**
 * Paths, file names and commands are built from ids, and a secret that was repeated as one must not be kept as one. What
 * the current surface makes has a UUID; the form of the legacy ids is not known.
 */
const isId = (surface: Surface, value: unknown, isMade: boolean): boolean =>
  typeof value === 'string' &&
  (isMade && surface === 'current' ? uuidPattern : idPattern).test(value) &&
  redactor.known(value) === value;

function isThere(body: object, name: string, isList: boolean): boolean {
  const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
  return isList ? Array.isArray(value) : value !== undefined;
}
