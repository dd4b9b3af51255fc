import { type SandboxTrigger, sandboxTriggers } from '../../api/control.ts';
import { type ErrorType, errorTypes } from '../../api/error-types.ts';
import { noteForwarded } from '../accounts/changes.ts';
import { findAccount } from '../accounts/records.ts';
import { type Decision, decideDevice } from '../keys/device.ts';
import { claim, claimOf } from '../keys/keys.ts';
import { forceOrder, type OrderTrigger } from '../orders/interventions.ts';
import { forceReturn } from '../returns/force.ts';
import type { ForcedReturn } from '../returns/lifecycle.ts';
import { type Caller, identify } from '../server/caller.ts';
import { ErrorResponse, Invalid, json } from '../server/refusal.ts';
import { defaultLimits, readJson } from '../server/request.ts';
import type { Service } from '../server/service.ts';
import type { SandboxRequest, SandboxResponse } from '../server/wire.ts';
import { empty, fund } from '../wallet/wallet.ts';

interface Trigger {
  readonly event: SandboxTrigger;
  readonly id: string;
  readonly errorType: ErrorType | undefined;
  readonly amount: number;
}

interface Target {
  readonly service: Service;
  readonly caller: Caller;
  readonly trigger: Trigger;
  readonly now: number;
}

type Fire = (target: Target) => Promise<object> | object;

/** Fires a trigger immediately. @throws Refusal, Invalid. */
export async function fireTrigger(service: Service, request: SandboxRequest): Promise<SandboxResponse> {
  const now = service.clock.now();
  const caller = identify(service, 'bearer', request, now);
  if (!caller) throw new Error('a bearer endpoint has a caller');
  const trigger = readTrigger(request);
  return json(200, {
    event: trigger.event,
    ...(await fires[trigger.event]({ service, caller, trigger, now })),
  });
}

const order =
  (trigger: OrderTrigger): Fire =>
  async ({ service, caller: { userId }, trigger: { id, errorType }, now }) => ({
    id,
    status: await forceOrder(service, { trigger, id, userId, errorType }, now),
  });

const returned =
  (kind: ForcedReturn): Fire =>
  async ({ service, caller: { userId }, trigger: { id }, now }) => {
    const { status } = await forceReturn(service, { id, userId }, kind, now);
    return { id, status };
  };

/** The approver's email that is recorded when a script decides instead of a person. */
const rehearsingHuman = 'human@example.com';

const decide =
  (decision: Decision): Fire =>
  async ({ service: { store }, trigger, now }) => {
    if (await decideDevice(store, trigger.id, { decision, email: rehearsingHuman, now }))
      return { id: trigger.id, status: decision };
    throw new ErrorResponse('not_found', `No device waits with the code ${trigger.id}.`);
  };

const fires: Readonly<Record<SandboxTrigger, Fire>> = {
  placed: order('placed'),
  failed: order('failed'),
  shipped: order('shipped'),
  delivered: order('delivered'),
  undeliverable: order('undeliverable'),
  'available-for-pickup': order('available-for-pickup'),
  'cancelled-by-retailer': order('cancelled-by-retailer'),
  'return-approved': returned('approved'),
  'return-denied': returned('denied'),
  'return-credited': returned('credited'),
  'account-forwarded': async ({ service: { store }, caller, trigger, now }) => {
    const account = findAccount(store, caller.userId, trigger.id);
    if (!account) throw new ErrorResponse('not_found', `There is no managed account ${trigger.id}.`);
    await noteForwarded(store, account.id, now);
    return { id: account.shortId };
  },
  'wallet-funded': ({ service: { store }, caller: { userId }, trigger: { amount }, now }) =>
    store.transaction(() => ({ amount, balance: fund(store, userId, amount, now) })),
  'wallet-emptied': ({ service: { store }, caller: { userId }, now }) =>
    store.transaction(() => {
      const { taken, balance } = empty(store, userId, now);
      return { amount: 0 - taken, balance };
    }),
  'key-claimed': async ({ service: { store }, caller, now }) => {
    const done = await claim(store, claimOf(store, caller.keyHash).token, rehearsingHuman, now);
    if (done !== 'claimed') throw new ErrorResponse('bad_request', 'This sandbox is claimed already.');
    return { email: rehearsingHuman };
  },
  'device-approve': decide('approved'),
  'device-deny': decide('denied'),
};

function readTrigger({ body }: SandboxRequest): Trigger {
  const value: unknown = readJson(body, defaultLimits);
  const fields: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {};
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const event = Object.keys(sandboxTriggers).find((name) => name === text('event'));
  const errorType = Object.keys(errorTypes).find((name) => name === text('error_type'));
  const invalid = (field: string, values: readonly string[]): Invalid =>
    new Invalid([{ loc: ['body', field], msg: `Input should be one of ${values.join(', ')}`, type: 'enum' }]);
  if (!event) throw invalid('event', Object.keys(sandboxTriggers));
  if (text('error_type') !== '' && !errorType) throw invalid('error_type', Object.keys(errorTypes));
  const amount = typeof fields.amount === 'number' && Number.isSafeInteger(fields.amount) ? fields.amount : 0;
  if (event === 'wallet-funded' && amount <= 0) throw noAmount();
  return {
    // The casts are safe because both values were validated against the keys of their tables.
    event: event as SandboxTrigger,
    errorType: errorType as ErrorType | undefined,
    id: text('id'),
    amount,
  };
}

const noAmount = (): Invalid =>
  new Invalid([
    { loc: ['body', 'amount'], msg: 'Input should be a whole number of cents above 0', type: 'greater_than' },
  ]);
