import type { Scenario } from '../../api/scenario/scenario.ts';
import { scenarioAddresses } from '../../api/scenario/words.ts';
import type { SandboxConfig } from '../config.ts';
import { findOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import { chunksOf, type Handle, type SandboxResponse } from '../server/wire.ts';
import type { ScenarioProblem } from './problem.ts';

/** A key of a scenario, reported to the user. */
export interface PlayedKey {
  readonly name: string;
  readonly apiKey: string;
  readonly userId: string;
}

/** A sandbox in which a scenario is being set up. */
export interface Stage {
  readonly service: Service;
  readonly names: Names;
  readonly keys: ReadonlyMap<string, PlayedKey>;
  readonly send: Send;
  /** Sets the speed factor of everything that is created from now on. */
  setSpeed(speed: number): void;
}

/** Finds a key by name. Without a name, returns the first key. */
export function keyOf({ keys }: Pick<Stage, 'keys'>, name: string | undefined): PlayedKey {
  const [first] = keys.values();
  const key = name === undefined ? first : keys.get(name);
  if (!key) throw new Error(`the scenario has no key ${name}`);
  return key;
}

interface Posting {
  readonly target: string;
  readonly body: unknown;
  readonly key: string | undefined;
  /** The scenario's name for the created resource. */
  readonly name?: string | undefined;
  /** Path of the request body in the scenario. */
  readonly path: ScenarioProblem['path'];
}

/**
 * Sends a request at a time in the past. If the request is refused, reports the refusal with its path in the scenario.
 */
export async function post(
  stage: Stage,
  { target, body, key, name, path }: Posting,
): Promise<ScenarioProblem[]> {
  const { names, send } = stage;
  const reply = await send({
    method: 'POST',
    target: names.filled(target),
    apiKey: keyOf(stage, key).apiKey,
    body: names.filled(body),
  });
  if (isSuccess(reply)) {
    const id = idIn(reply);
    if (id !== undefined) names.set(name, id);
    return [];
  }
  const { message, field } = errorIn(reply);
  return [{ path: [...path, ...field], message }];
}

type Items = Scenario['returns'][number]['items'];

/** Resolves a return's item indexes to items of the order. Without indexes, returns one unit of the first item. */
export function itemsOf(
  { service: { store } }: Pick<Stage, 'service'>,
  orderId: string,
  items: Items,
): { order_item_id: string; quantity: number }[] {
  const order = findOrder(store, orderId.toLowerCase(), null);
  const chosen = items ?? [{ item: 0, quantity: 1 }];
  return chosen.map(({ item, quantity }) => ({
    order_item_id: order?.record.items[item]?.id ?? '00000000-0000-4000-8000-000000000000',
    quantity,
  }));
}

const patterns = { named: /\{([A-Za-z][\w.-]{0,63})\}/g };

/** Maps a scenario's names to ids. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #addresses: readonly (readonly [string, string])[];

  constructor({ shopUrl, baseUrl }: Pick<SandboxConfig, 'shopUrl' | 'baseUrl'>) {
    this.#addresses = [
      [scenarioAddresses.shop_url, shopUrl],
      [scenarioAddresses.base_url, baseUrl],
    ];
  }

  set(name: string | undefined, id: string): void {
    if (name !== undefined) this.#ids.set(name, id);
  }

  /** The id for a name. Text that is not a known name is returned unchanged, as an id. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? name;
  }

  /** Replaces `{name}` in strings by ids, and address placeholders by the sandbox's addresses. */
  filled<T>(value: T): T {
    // The cast is safe because strings, arrays and object fields keep their types.
    return this.#filled(value) as T;
  }

  #filled(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((one) => this.#filled(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, this.#filled(one)]));
  }

  #text(text: string): string {
    const addressed = this.#addresses.reduce((done, [from, to]) => done.replaceAll(from, to), text);
    return addressed.replace(patterns.named, (whole, name: string) => this.#ids.get(name) ?? whole);
  }
}

/** A response as seen by a scenario. */
export interface Reply {
  readonly status: number;
  /** The parsed body; plain text if it is not JSON. */
  readonly value: unknown;
}

export type Send = (request: {
  readonly method: string;
  readonly target: string;
  readonly apiKey: string | undefined;
  readonly body?: unknown;
}) => Promise<Reply>;

const loopback = '127.0.0.1';

/** Sends requests in-process, as a client would, without a connection. */
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

/** Reads a response to the end. */
export async function readReply({ status, body }: SandboxResponse): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(body)) chunks.push(Buffer.from(chunk));
  return { status, value: parsed(Buffer.concat(chunks).toString('utf8')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A field of an object; undefined if the value is not an object. */
export const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? Reflect.get(value, field)
    : undefined;

/** The id of the resource created by a request. */
export function idIn({ value }: Reply): string | undefined {
  const id = fieldOf(value, 'short_id') ?? fieldOf(value, 'id');
  return typeof id === 'string' ? id : undefined;
}

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300;

/** The message of a refusal, and the path of the invalid body field if the refusal names one. */
export function errorIn({ status, value }: Reply): {
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
/** Splits a request line such as `GET /orders?limit=1`. */
export function requestParts(line: string): { readonly method: string; readonly target: string } {
  const space = line.indexOf(' ');
  const target = line.slice(space + 1);
  return { method: line.slice(0, space), target };
}
