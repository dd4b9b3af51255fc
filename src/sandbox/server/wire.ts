/** A request as the sandbox takes it, from a socket or from this process. Header names are lower-case. */
export interface SandboxRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
  readonly remoteAddress: string;
  /** Where the connection came in; undefined for a call inside this process. */
  readonly localAddress?: string | undefined;
  /** Who sent it; undefined for a call inside this process. */
  readonly sender?: Sender | undefined;
  /** Receives the user of the request, once that is known. */
  readonly identified?: (userId: string) => void;
  /** Receives the sandbox's own time when the request comes to it, ms since the epoch. */
  readonly came?: (at: number) => void;
}

/** Who is at the other end of a connection. */
export interface Sender {
  /** Why it is not the user who serves the sandbox, as far as the system or a secret shows; undefined where it is. */
  stranger(): string | undefined;
  /** The cookie for the browser that has opened the printed address; undefined for any other code, and the second time. */
  admit(code: string): string | undefined;
}

export type SandboxBody =
  | string
  | Uint8Array
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | null;

/** A body in the pieces that it comes in. */
export const piecesOf = (
  body: SandboxBody,
): Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> =>
  typeof body === 'string' || body instanceof Uint8Array ? [body] : (body ?? []);

/** The half of a body that comes before its connection breaks off, and the length of the whole. */
export async function halfOf(
  body: SandboxBody,
): Promise<{ readonly half: Uint8Array; readonly length: number }> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(body)) pieces.push(Buffer.from(piece));
  const bytes = Buffer.concat(pieces);
  return { half: bytes.subarray(0, bytes.length >> 1), length: bytes.length };
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: SandboxBody;
}

export type Handle = (request: SandboxRequest) => Promise<SandboxResponse>;

/** The one value of a header, or undefined. */
export function headerOf(request: Pick<SandboxRequest, 'headers'>, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
