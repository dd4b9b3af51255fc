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
  /** Receives the user of the request, once that is known. */
  readonly identified?: (userId: string) => void;
}

export type SandboxBody =
  | string
  | Uint8Array
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>
  | null;

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
