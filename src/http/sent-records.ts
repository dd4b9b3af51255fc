import type { JsonObject } from '../api/json.ts';
import type { AsSent } from '../format/raw-records.ts';
import { backslash, closeBracket, comma, endOfObject, openBrace, quote } from './dense-json.ts';
import { deepestJson, parseJson } from './response.ts';

/** A list's response in two parts. */
interface SentList {
  /** The response with no records in its list. */
  readonly body: unknown;
  readonly sent: AsSent;
}

/** A record stands in the list, and that in the response. */
const aroundRecords = 2;

/** What tells two records apart. */
export const identityOf = (row: JsonObject): string =>
  typeof row.id === 'string' ? row.id : JSON.stringify(row);

/**
 * Takes the records out of a list's JSON without parsing them, which takes longer than all else that is done with them.
 * @param name of the field with the records.
 * @returns undefined for what only JSON.parse can tell: no records, spaces between or within them, or no JSON at all.
 */
export function readSent(bytes: Uint8Array, name: string): SentList | undefined {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const field = JSON.stringify(name);
  const opening = `${field}:[`;
  const from = json.indexOf(opening) + opening.length;
  if (from < opening.length || json[0] !== openBrace) return undefined;
  const sent = recordsFrom(json, from);
  if (!sent) return undefined;
  const rest = Buffer.concat([json.subarray(0, from), json.subarray(sent.places.at(-1))]);
  // Where a name has no escapes it is spelt in one way. So if it is there once, it is the name that was found.
  if (rest.includes(backslash) || rest.indexOf(field) !== rest.lastIndexOf(field)) return undefined;
  const body = parseJson(rest);
  return body === undefined ? undefined : { body, sent };
}

function recordsFrom(json: Buffer, from: number): AsSent | undefined {
  const places: number[] = [];
  const ids: string[] = [];
  const hasEscapes = json.includes(backslash);
  let [id, idEnd] = [0, 0];
  const noteId = (name: number, nameEnd: number, valueEnd: number): void => {
    if (nameEnd - name !== 4 || json[name + 1] !== 0x69 || json[name + 2] !== 0x64) return;
    id = nameEnd + 1;
    idEnd = valueEnd;
  };
  for (let at = from; json[at] === openBrace; at += 1) {
    id = 0;
    const end = endOfObject(json, at + 1, deepestJson - aroundRecords, noteId);
    if (end === 0) return undefined;
    places.push(at, end);
    // A name with an escape in it may be that of the id, too.
    const isPlain = json[id] === quote && !(hasEscapes && json.subarray(at, end).includes(backslash));
    ids.push(
      isPlain
        ? json.toString('utf8', id + 1, idEnd - 1)
        : identityOf(JSON.parse(json.toString('utf8', at, end))),
    );
    if (json[end] === closeBracket) return { json, places, ids };
    if (json[end] !== comma) return undefined;
    at = end;
  }
  return undefined;
}
