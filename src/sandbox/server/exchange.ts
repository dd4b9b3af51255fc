import { copyOf, foreignJson, ownJson, withoutSecrets } from './secrets.ts';
import type { SandboxBody, SandboxRequest, SandboxResponse } from './wire.ts';

/** A body as it may be kept: its beginning, without secrets, or nothing but its size. */
export interface KeptBody {
  /** JSON, whole or cut; null where it is not kept. */
  readonly text: string | null;
  /** Of the whole, bytes; null where it came in pieces. */
  readonly bytes: number | null;
  readonly isCut: boolean;
}

/** One side of a request, as it may be kept. */
export interface KeptSide {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: KeptBody;
}

/** Most of a body that is kept, characters. */
const longestBody = 8_000;
/** A larger body of a request is not read for the secrets in it, bytes. */
const maxBodyRead = 64 * 1024;
const longestHeader = 300;
const mostHeaders = 60;

/** Headers whose value is a secret; of those that name a scheme it stays. */
const secretHeader =
  /^(?!idempotency-key$|x-idempotency-key$|sec-websocket-)(?:.*[-_])?(?:(?:proxy-?)?authorization|cookie|password|secret|token|(?:api)?key|signature|credential|payment-receipt)$/i;

type Headers = SandboxRequest['headers'];

export const sentSide = (headers: Headers, body: Uint8Array): KeptSide => ({
  headers: keptHeaders(headers),
  body: sentBody(body, typeIn(headers)),
});

export const receivedSide = ({ headers, body }: SandboxResponse): KeptSide => ({
  headers: keptHeaders(headers),
  body: receivedBody(body, typeIn(headers)),
});

/** Nothing of a side that nobody had the time to read. */
export const unread: KeptSide = { headers: [], body: { text: null, bytes: null, isCut: false } };

const typeIn = (headers: Headers): string => String(headers['content-type'] ?? '');

const isJson = (type: string): boolean =>
  type === '' || /^application\/(?:[\w.-]{1,60}\+)?json\b/i.test(type);

function keptHeaders(headers: SandboxRequest['headers']): KeptSide['headers'] {
  return Object.entries(headers)
    .slice(0, mostHeaders)
    .flatMap(([name, value]) =>
      value === undefined
        ? []
        : [value]
            .flat()
            .map((one) => [name, secretHeader.test(name) ? schemeOf(one) : headerText(one)] as const),
    );
}

const schemeOf = (value: string): string => `${/^(?:Basic|Bearer|Payment) /i.exec(value)?.[0] ?? ''}…`;

const headerText = (value: string): string =>
  withoutSecrets(value.length > longestHeader ? `${copyOf(value.slice(0, longestHeader))}…` : value);

/** A body that says nothing of itself is JSON. */
function sentBody(body: Uint8Array, type: string): KeptBody {
  const { length: bytes } = body;
  if (bytes === 0 || bytes > maxBodyRead || !isJson(type)) return { text: null, bytes, isCut: false };
  const text = foreignJson(Buffer.from(body.buffer, body.byteOffset, bytes).toString('utf8'));
  return text === null ? { text, bytes, isCut: false } : { bytes, ...beginningOf(text) };
}

function receivedBody(body: SandboxBody, type: string): KeptBody {
  if (body === null) return { text: null, bytes: 0, isCut: false };
  if (typeof body !== 'string') return { text: null, bytes: null, isCut: false };
  const bytes = Buffer.byteLength(body);
  if (!isJson(type)) return { text: null, bytes, isCut: false };
  const { text, isCut } = beginningOf(body);
  return { text: ownJson(text, isCut), bytes, isCut };
}

const beginningOf = (text: string): { text: string; isCut: boolean } =>
  text.length > longestBody
    ? { text: copyOf(text.slice(0, longestBody)), isCut: true }
    : { text, isCut: false };
