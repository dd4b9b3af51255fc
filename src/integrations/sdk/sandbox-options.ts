import { isDate } from 'node:util/types';
import { type SandboxTrigger, sandboxTriggers } from '../../api/control.ts';
import { errorTypes } from '../../api/error-types.ts';
import { faultGrammar, sandboxFaults } from '../../api/sandbox-faults.ts';
import { steadyTime } from '../../platform/clock.ts';
import { ErrandError, type ErrorCategory, UsageError } from '../../platform/errors.ts';
import { type Fault, readFault, type SandboxResponse } from '../../sandbox/in-process.ts';
import type { SandboxTriggered } from './sandbox-types.ts';

/** Validated options of a sandbox. */
interface ReadOptions {
  readonly port: number | undefined;
  readonly seed: number | undefined;
  readonly speed: number;
  /** Time at which the sandbox's clock starts, in ms since the epoch. */
  readonly now: () => number;
  readonly faults: readonly Fault[];
}

const known = ['port', 'seed', 'speed', 'clock', 'faults'] as const;
const highestPort = 65_535;

/** @throws UsageError naming the option. */
export function readOptions(given: unknown): ReadOptions {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new UsageError(`startSandbox takes an object of options, not ${shown(given)}`);
  for (const name of Object.keys(given)) checkName(name);
  const { port = 0, seed, speed = 1, clock = 'real', faults = [] }: Record<string, unknown> = { ...given };
  return {
    port: port === false ? undefined : whole('port', port, 0, highestPort, ', or false for none'),
    seed: seed === undefined ? undefined : whole('seed', seed, 0, 2 ** 31 - 1),
    speed: whole('speed', speed, 1, 1000),
    now: readClock(clock),
    faults: readFaults(faults),
  };
}

function checkName(name: string): void {
  if (known.some((one) => one === name)) return;
  const more =
    name === 'memory' || name === 'file' || name === 'data'
      ? '; it is always in memory, and `errand sandbox serve --data FILE` keeps one in a file'
      : `; there are ${known.join(', ')}`;
  throw new UsageError(`startSandbox has no option ${shown(name)}${more}`);
}

function whole(name: string, value: unknown, min: number, max: number, more = ''): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(
    `startSandbox: ${name} takes a whole number from ${min} to ${max}${more}, not ${shown(value)}`,
  );
}

function readClock(clock: unknown): () => number {
  if (clock === 'real') return steadyTime();
  // Look up `Date.now` on each call, because fake timers may replace the function later.
  if (clock === Date) return () => Date.now();
  if (clock === 'frozen') return still(Date.now());
  if (isDate(clock) && !Number.isNaN(clock.getTime())) return still(clock.getTime());
  const now: unknown = Object(clock).now;
  if (isDate(clock) || typeof now !== 'function')
    throw new UsageError(
      `startSandbox: clock takes 'real', 'frozen', a valid Date or { now(): number }, not ${shown(clock)}`,
    );
  return () => {
    const time: unknown = now.call(clock);
    if (typeof time === 'number' && Number.isFinite(time)) return Math.round(time);
    throw new UsageError(`startSandbox: clock.now() must return ms since the epoch, not ${shown(time)}`);
  };
}

const still = (ms: number) => (): number => ms;

function readFaults(faults: unknown): Fault[] {
  if (!Array.isArray(faults))
    throw new UsageError(
      `startSandbox: faults takes a list, such as ['reset-after:20%@POST /orders'], not ${shown(faults)}`,
    );
  return faults.map((text: unknown) => {
    const fault = typeof text === 'string' ? readFault(text) : undefined;
    if (fault) return fault;
    throw new UsageError(
      `startSandbox: faults: ${shown(text)} is not a fault; write one of ${Object.keys(sandboxFaults).join(', ')}`,
      { hint: faultGrammar },
    );
  });
}

/** Formats an option's value for a message. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const targets: Readonly<Record<string, string>> = {
  order: 'an order',
  return: 'a return',
  account: 'a managed account',
  code: 'a device, the code that it shows,',
};

/**
 * Builds the body of a trigger request.
 * @param what holds the id of the target, the options, or both.
 * @throws UsageError.
 */
export function triggerBody(event: string, what: readonly unknown[]): object {
  const call = `sandbox.trigger(${shown(event)})`;
  const known = Object.hasOwn(sandboxTriggers, event) ? sandboxTriggers[event as SandboxTrigger] : undefined;
  if (!known)
    throw new UsageError(
      `sandbox.trigger: there is no event ${shown(event)}; the sandbox knows ${Object.keys(sandboxTriggers).join(', ')}`,
    );
  const id = what.find((one) => typeof one === 'string');
  if (known.target !== 'none' && !id)
    throw new UsageError(`${call} needs the id of ${targets[known.target]} behind the event`);
  const options: Record<string, unknown> = {
    ...what.find((one) => typeof one === 'object' && one !== null),
  };
  for (const name of Object.keys(options)) {
    const only = { errorType: 'failed', amount: 'wallet-funded' }[name];
    if (only === undefined)
      throw new UsageError(`${call} has no option ${shown(name)}; there are errorType, amount`);
    if (only !== event && options[name] !== undefined)
      throw new UsageError(`${call}: ${name} belongs to ${only}`);
  }
  const { errorType, amount } = options;
  if (errorType !== undefined && !(typeof errorType === 'string' && Object.hasOwn(errorTypes, errorType)))
    throw new UsageError(
      `${call}: errorType takes one of ${Object.keys(errorTypes).join(', ')}, not ${shown(errorType)}`,
    );
  if (event === 'wallet-funded' && !(Number.isSafeInteger(amount) && Number(amount) > 0))
    throw new UsageError(`${call} needs { amount }, a whole number of cents above 0, not ${shown(amount)}`);
  return {
    event,
    ...(id !== undefined && { id }),
    ...(errorType !== undefined && { error_type: errorType }),
    ...(amount !== undefined && { amount }),
  };
}

/**
 * A 400 is about the state of the target, because the request is well-formed. The commands treat it in the same way.
 */
const categories: Readonly<Record<number, ErrorCategory>> = { 400: 'conflict', 404: 'not_found' };

/** Reads a trigger's result. @throws ErrandError if the sandbox refuses it. */
export function triggered(event: SandboxTrigger, { status, body }: SandboxResponse): SandboxTriggered {
  const response = JSON.parse(String(body));
  if (status === 200) return response;
  throw new ErrandError(
    categories[status] ?? 'unexpected',
    `sandbox.trigger(${shown(event)}): ${response.message}`,
    {
      code: response.code,
      status,
      outcome: 'rejected',
    },
  );
}
