import type { Scenario } from '../../api/scenario/scenario.ts';
import { scenarioAddresses } from '../../api/scenario/words.ts';
import type { SandboxConfig } from '../config.ts';
import { findOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import { type Handle, piecesOf, type SandboxResponse } from '../server/wire.ts';
import type { ScenarioProblem } from './problem.ts';

/** A key of a scenario, shown to whoever plays it. */
export interface PlayedKey {
  readonly name: string;
  readonly apiKey: string;
  readonly userId: string;
}

/** A sandbox while a scenario is brought about in it. */
export interface Stage {
  readonly service: Service;
  readonly names: Names;
  readonly keys: ReadonlyMap<string, PlayedKey>;
  readonly send: Send;
  /** Divides each delay of the life of what is created next. */
  setSpeed(speed: number): void;
}

/** The key of a name; without one, the first. */
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
  /** What the scenario calls what is made. */
  readonly name?: string | undefined;
  /** Where the body stands in the scenario. */
  readonly path: ScenarioProblem['path'];
}

/** Sends a request of the past, and says where it was refused. */
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
  const { message, field } = refusalIn(reply);
  return [{ path: [...path, ...field], message }];
}

type Items = Scenario['returns'][number]['items'];

/** The items of an order that a return names by their places; one of the first where it names none. */
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

/** What a scenario calls things, and their ids. */
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

  /** The id of a name; what is no name is an id itself. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? name;
  }

  /** A value with each `{name}` in its texts as the id, and the sandbox's addresses where they are to stand. */
  filled<T>(value: T): T {
    // A text stays a text, a list a list, an object one with the same fields.
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
