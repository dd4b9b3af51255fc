import { afterEach } from 'vitest';
import { Terminal } from '../support/terminal.ts';
import type { Workspace } from '../support/workspace.ts';

/**
 * Opens terminals that are closed after each test. Called below the hook that removes the workspace, since hooks of the
 * end run from the last to the first.
 */
export function useTerminals(workspace: () => Workspace) {
  const opened: Terminal[] = [];
  afterEach(() => {
    for (const terminal of opened.splice(0)) terminal.close();
  });
  return (...[command, args, size]: Tail<ConstructorParameters<typeof Terminal>>): Terminal => {
    const terminal = new Terminal(workspace(), command, args, size);
    opened.push(terminal);
    return terminal;
  };
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;
