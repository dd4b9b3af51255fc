import { type Handle, piecesOf, type SandboxResponse } from '../server/wire.ts';

/** A response as a scenario sees it. */
export interface Reply {
  readonly status: number;
  /** Its JSON; its text where it is none. */
  readonly value: unknown;
}

export type Send = (request: {
  readonly method: string;
  readonly target: string;
  readonly apiKey: string | undefined;
  readonly body?: unknown;
}) => Promise<Reply>;

const loopback = '127.0.0.1';

/** Requests to the sandbox as a client of it sends them, without a connection. */
export const senderTo =
  (handle: Handle): Send =>
  async ({ method, target, apiKey, body }) => {
    const response = await handle({
      method,
      target,
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        'content-type': 'application/json',
      },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: loopback,
    });
    return readReply(response);
  };

/** A response, read to its end. */
export async function readReply({ status, body }: SandboxResponse): Promise<Reply> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(body)) pieces.push(Buffer.from(piece));
  return { status, value: parsed(Buffer.concat(pieces).toString('utf8')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A field of a response, if it is an object that has it. */
export const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? Reflect.get(value, field)
    : undefined;

/** The id that a response gives what it made. */
export function idIn({ value }: Reply): string | undefined {
  const id = fieldOf(value, 'short_id') ?? fieldOf(value, 'id');
  return typeof id === 'string' ? id : undefined;
}

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300;

/** What a refusal says, and of which field of the body where it names one. */
export function refusalIn({ status, value }: Reply): {
  readonly message: string;
  readonly field: (string | number)[];
} {
  const [issue] = [fieldOf(value, 'detail')].flat();
  const loc = fieldOf(issue, 'loc');
  if (Array.isArray(loc)) return { message: String(fieldOf(issue, 'msg')), field: loc.slice(1) };
  const code = fieldOf(value, 'code');
  const message = fieldOf(value, 'message');
  if (code === undefined) return { message: `the sandbox responds ${status}`, field: [] };
  return { message: `${String(code)}: ${String(message)}`, field: [] };
}
/** A request line in its parts: `GET /orders?limit=1`. */
export function requestParts(line: string): { readonly method: string; readonly target: string } {
  const space = line.indexOf(' ');
  const target = line.slice(space + 1);
  return { method: line.slice(0, space), target };
}
