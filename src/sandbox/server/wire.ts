/** A request to the sandbox, from a socket or in-process. Header names are lower-case. */
export interface SandboxRequest {
  readonly method: string;
  /** Path and query, unmodified. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
  readonly remoteAddress: string;
  /** Local address of the connection; undefined for an in-process call. */
  readonly localAddress?: string | undefined;
  /** The sender; undefined for an in-process call. */
  readonly sender?: Sender | undefined;
  /** Called with the user behind the request once that user is known. */
  readonly identified?: (userId: string) => void;
  /** Called with the sandbox time at which the request arrives, in ms since the epoch. */
  readonly started?: (at: number) => void;
}

/** The other end of a connection. */
export interface Sender {
  /**
   * Why the sender is not the user who runs the sandbox; undefined if the sender is that user. The operating system or
   * a secret identifies the user.
   */
  stranger(): string | undefined;
  /** The cookie for a browser that opened the printed URL; undefined if the code is wrong or already used. */
  admit(code: string): string | undefined;
}

export type SandboxBody =
  | string
  | Uint8Array
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | null;

/** Iterates over a body in chunks. */
export const chunksOf = (
  body: SandboxBody,
): Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> =>
  typeof body === 'string' || body instanceof Uint8Array ? [body] : (body ?? []);

/** The first half of a body, and the length of the whole body. */
export async function halfOf(
  body: SandboxBody,
): Promise<{ readonly half: Uint8Array; readonly length: number }> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(body)) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  return { half: bytes.subarray(0, bytes.length >> 1), length: bytes.length };
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: SandboxBody;
}

export type Handle = (request: SandboxRequest) => Promise<SandboxResponse>;

/** The value of a header, or its first value if the header is repeated; undefined if the header is missing. */
export function headerOf(request: Pick<SandboxRequest, 'headers'>, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * What a client receives: a response, half a response that declares its full content length, or a dropped connection.
 */
export type Reply =
  | { readonly kind: 'whole' | 'half'; readonly response: SandboxResponse }
  | { readonly kind: 'reset' };
