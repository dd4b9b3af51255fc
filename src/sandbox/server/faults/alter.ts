import { isObject } from '../../../api/json.ts';
import { oddIds } from '../../../api/sandbox-faults.ts';
import { Random } from '../../store/random.ts';
import type { SandboxResponse } from '../wire.ts';
import { isOrderRecord, normalise, type OrderJson } from './normalise.ts';
import type { Fault, FaultKind } from './spec.ts';

const altering: ReadonlySet<FaultKind> = new Set(['normalise', 'id', 'another-order']);

export const isAltering = (kind: FaultKind): boolean => altering.has(kind);

interface Alterations {
  readonly altering: readonly Fault[];
  readonly alter: (response: SandboxResponse) => SandboxResponse;
}

/** What changes the responses that are sent: seeded, apart from the faults that break them off. */
export function alterations(
  faults: readonly Fault[],
  seed: number | string,
): (method: string, pathname: string) => Alterations {
  const random = Random.of('alterations', seed);
  const replaceOrder = anotherOrder(random);
  const change = (fault: Fault, value: unknown): unknown => {
    if (fault.kind === 'normalise') return normalise(value, fault.variants, random);
    return fault.kind === 'id' ? withOddId(value, fault.variants, random) : replaceOrder(value);
  };
  return (method, pathname) => {
    const drawn = faults.filter(({ matches, share }) => matches(method, pathname) && random.chance(share));
    return {
      altering: drawn,
      alter: (response) =>
        drawn.length === 0
          ? response
          : withJson(response, (value) => drawn.reduce((changed, fault) => change(fault, changed), value)),
    };
  };
}

/** Changes a successful JSON response, and no other. */
function withJson(response: SandboxResponse, change: (value: unknown) => unknown): SandboxResponse {
  const { status, headers, body } = response;
  const isJson = String(headers['content-type']).startsWith('application/json');
  if (status >= 300 || !isJson || typeof body !== 'string') return response;
  return { ...response, body: JSON.stringify(change(JSON.parse(body))) };
}

function withOddId(value: unknown, variants: readonly string[], random: Random): unknown {
  if (!isObject(value) || !('id' in value)) return value;
  const [first = 'null', ...rest] = variants.length > 0 ? variants : Object.keys(oddIds);
  const odd: Readonly<Record<string, unknown>> = oddIds;
  return { ...value, id: odd[random.pick([first, ...rest])] };
}

/** Gives the order record that was sent before in place of the one that is due, as a confused cache does. */
function anotherOrder(random: Random): (value: unknown) => unknown {
  let before: OrderJson | undefined;
  return (value) => {
    if (!isOrderRecord(value)) return value;
    const other = before && before.id !== value.id ? before : invented(value, random);
    before = value;
    return other;
  };
}

/** An order that nobody has made. */
function invented(order: OrderJson, random: Random): OrderJson {
  const digits = Array.from({ length: 12 }, () => random.integer(0, 15).toString(16)).join('');
  return {
    ...order,
    id: `${String(order.id).slice(0, -12)}${digits}`,
    max_price: 123_456,
    metadata: {},
    shipping_address: {
      ...order.shipping_address,
      first_name: 'Somebody',
      last_name: 'Else',
      address_line1: '99 Other Road',
    },
  };
}
