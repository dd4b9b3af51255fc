import type { Scenario } from '../../api/scenario/scenario.ts';
import { findOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import type { Names } from './names.ts';
import type { ScenarioProblem } from './problem.ts';
import { idIn, isSuccess, refusalIn, type Send } from './send.ts';

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
