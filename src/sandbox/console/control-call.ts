import { type ControlAction, type ControlActions, controlPath } from '../../api/control.ts';
import type { SandboxConfig } from '../config.ts';
import { curlCall } from './same-from-terminal.ts';

/** The command and the call that control the sandbox. No key is needed: its own machine may. */
export const controlCall = <A extends ControlAction>(
  config: SandboxConfig,
  what: string,
  errand: readonly string[] | null,
  { action, body }: { readonly action: A; readonly body: ControlActions[A] },
) => ({
  what,
  errand: errand && ['sandbox', ...errand],
  curl: curlCall(config, { method: 'POST', path: `${controlPath}/${action}`, body, hasKey: false }),
});
