import { type SandboxTrigger, sandboxTriggers } from '../../api/control.ts';
import { errorTypes } from '../../api/error-types.ts';
import { ErrandError, type ErrorCategory, UsageError } from '../../platform/errors.ts';
import type { SandboxResponse } from '../../sandbox/in-process.ts';
import { shown } from './sandbox-options.ts';
import type { SandboxTriggered } from './sandbox-types.ts';

const targets: Readonly<Record<string, string>> = {
  order: 'an order',
  return: 'a return',
  account: 'a managed account',
  code: 'a device, the code that it shows,',
};

/** The body of a trigger. @param what its id, its options, or both. @throws UsageError. */
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

/** As the commands have it: the form of what was sent is right, so a 400 speaks of the state of its target. */
const categories: Readonly<Record<number, ErrorCategory>> = { 400: 'conflict', 404: 'not_found' };

/** What a trigger did. @throws ErrandError for one that the sandbox refuses. */
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
