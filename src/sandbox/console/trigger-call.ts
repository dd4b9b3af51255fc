import { type SandboxTrigger, sandboxTriggers, triggerPath } from '../../api/control.ts';
import type { SandboxConfig } from '../config.ts';
import { curlCall } from './same-from-terminal.ts';

interface Event {
  readonly event: SandboxTrigger;
  readonly id?: string;
  readonly fields?: Readonly<Record<string, string | number>>;
  /** The options that say the same as `fields`. */
  readonly options?: readonly string[];
}

/** The command and the call that trigger an event. */
export const triggerCall = (config: SandboxConfig, { event, id, fields = {}, options = [] }: Event) => ({
  what: event,
  errand: ['sandbox', 'trigger', event, ...(id === undefined ? [] : [id]), ...options],
  curl: curlCall(config, {
    method: 'POST',
    path: triggerPath,
    body: { event, ...(sandboxTriggers[event].target !== 'none' && { id }), ...fields },
  }),
});
