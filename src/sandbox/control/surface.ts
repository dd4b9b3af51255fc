import type { ControlAction, ControlActions } from '../../api/control.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import { isCrossOrigin, stranger } from '../server/hosts.ts';
import { ErrorResponse, Invalid, json } from '../server/refusal.ts';
import { defaultLimits, readJson } from '../server/request.ts';
import type { Control, Service } from '../server/service.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';

/**
 * Time budget, in ms of real time, for advancing the clock in one request. Clients send another request for the
 * remainder.
 */
const advanceBudgetMs = 5000;

/** Maximum clock step, in ms. It only has to reject absurd values, because the clock never passes `lastMs` anyway. */
export const maxStepMs = 1e15;

type Fields<A extends ControlAction> = {
  readonly [F in keyof ControlActions[A]]-?: Field<ControlActions[A][F]>;
};

/** A field of an action: a description of the valid values, and a check of a value. */
interface Field<T> {
  readonly takes: string;
  readonly isTaken: (value: unknown) => value is T;
}

type Action<A extends ControlAction> = {
  readonly fields: Fields<A>;
  readonly run: (control: Control, body: ControlActions[A]) => Promise<object>;
};

const text: Field<string> = {
  takes: 'a text',
  isTaken: (value): value is string => typeof value === 'string',
};

const whole = (min: number, max: number): Field<number> => ({
  takes: `a whole number from ${min} to ${max}`,
  isTaken: (value): value is number =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
});

const optional = <T>({ takes, isTaken }: Field<T>): Field<T | undefined> => ({
  takes,
  isTaken: (value): value is T | undefined => value === undefined || isTaken(value),
});

const texts: Field<readonly string[]> = {
  takes: 'a list of texts',
  isTaken: (value): value is readonly string[] =>
    Array.isArray(value) && value.length <= 100 && value.every((one) => typeof one === 'string'),
};

const flag: Field<boolean> = {
  takes: 'true or false',
  isTaken: (value): value is boolean => typeof value === 'boolean',
};

const actions: { readonly [A in ControlAction]: Action<A> } = {
  advance: {
    fields: { ms: whole(0, maxStepMs) },
    run: async (control, { ms }) => {
      const { left } = await control.advance(ms, advanceBudgetMs);
      return { left_ms: left };
    },
  },
  snapshot: {
    fields: { name: text, force: optional(flag) },
    run: async (control, { name, force }) => {
      await control.snapshot(name, { force });
      return {};
    },
  },
  restore: {
    fields: { name: text },
    run: async (control, { name }) => {
      await control.restore(name);
      return {};
    },
  },
  reset: {
    fields: {},
    run: async (control) => {
      await control.reset();
      return {};
    },
  },
  faults: {
    fields: {
      faults: optional(texts),
      add: optional(texts),
      remove: optional(texts),
      seed: optional(whole(0, 2 ** 31 - 1)),
    },
    run: async (control, change) => {
      await control.changeFaults(change);
      return {};
    },
  },
  export: {
    fields: {},
    run: async (control) => {
      const { scenario, leftOut } = await control.export();
      return { scenario, left_out: leftOut };
    },
  },
  speed: {
    fields: { speed: whole(1, 1000) },
    run: async (control, { speed }) => {
      await control.setSpeed(speed);
      return {};
    },
  },
};

/**
 * Returns the sandbox's state, or the result of an action. Only the user who runs the sandbox may send such requests.
 * Pages of another origin may not. An API key is not enough, because a key is for one user's orders, but these actions
 * affect all users. @throws Refusal, Invalid, DatabaseError.
 */
export async function controlSandbox(
  service: Service,
  request: SandboxRequest,
  { action }: Readonly<Record<string, string>>,
): Promise<SandboxResponse> {
  checkOrigin(service, request);
  const control = await service.control();
  if (action === undefined) return json(200, control.state);
  if (!isAction(action))
    throw new ErrorResponse(
      'not_found',
      `A sandbox has no action ${action.slice(0, 100)}; there are ${names}.`,
    );
  if (!/^application\/json\b/i.test(headerOf(request, 'content-type') ?? ''))
    throw new ErrorResponse('bad_request', 'An action takes a JSON object: Content-Type application/json.');
  const more = await runAction(action, control, request);
  return json(200, { ...control.state, ...more });
}

const names = Object.keys(actions).join(', ');
const isAction = (name: string): name is ControlAction => Object.hasOwn(actions, name);

/** Clients recognise by the `resource` that the refusal comes from a sandbox. */
function checkOrigin({ config }: Service, request: SandboxRequest): void {
  const why =
    stranger(request, config.baseUrl) ??
    (isCrossOrigin(request) ? 'this request comes from a page of another site' : undefined);
  if (why === undefined) return;
  throw new ErrorResponse(
    'forbidden',
    `A sandbox is controlled by the user who serves it, on the same machine: ${why}.`,
    { resource: 'sandbox_control' },
  );
}

function runAction<A extends ControlAction>(
  action: A,
  control: Control,
  request: SandboxRequest,
): Promise<object> {
  const { fields, run }: Action<A> = actions[action];
  const value: unknown = request.body.length === 0 ? {} : readJson(request.body, defaultLimits);
  if (!isObject(value))
    throw new Invalid([{ loc: ['body'], msg: 'Input should be an object', type: 'object' }]);
  checkFields(action, fields, value);
  // checkFields has validated every field.
  return run(control, value as ControlActions[A]);
}

function checkFields(action: string, fields: object, value: JsonObject): void {
  const known = new Map<string, Field<unknown>>(Object.entries(fields));
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new Invalid([
      { loc: ['body', unknown.slice(0, 100)], msg: `${action} has no such field`, type: 'extra_forbidden' },
    ]);
  for (const [name, { takes, isTaken }] of known) {
    if (isTaken(value[name])) continue;
    throw new Invalid([{ loc: ['body', name], msg: `Input should be ${takes}`, type: 'value_error' }]);
  }
}
