import { Agent, request } from 'node:http';

export interface Load {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Builds a distinct body for each request. */
  readonly body?: (index: number) => string;
}

export interface Measured {
  /** Average per request across all connections. */
  readonly ms: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly failures: number;
}

/** Keeps `connections` busy for `ms`, each with one request at a time. */
export async function loadFor(ms: number, connections: number, load: Load): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let failures = 0;
  let index = 0;
  const began = performance.now();
  const end = began + ms;
  async function client(): Promise<void> {
    while (performance.now() < end) {
      const started = performance.now();
      const status = await once(agent, load, index++);
      times.push(performance.now() - started);
      if (status >= 400) failures += 1;
    }
  }
  await Promise.all(Array.from({ length: connections }, client));
  const took = performance.now() - began;
  agent.destroy();
  const sorted = times.toSorted((one, other) => one - other);
  return {
    ms: took / times.length,
    perSecond: (times.length / took) * 1000,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    failures,
  };
}

function once(agent: Agent, { method, url, headers, body }: Load, index: number): Promise<number> {
  const text = body?.(index);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent,
        headers: { ...headers, ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }) },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}
