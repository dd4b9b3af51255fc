import { runChild } from '../../child-command.ts';
import { defineCommand } from '../../cli/define.ts';
import { faultGrammar, sandboxFaults } from '../../contract/sandbox-faults.ts';
import { ErrandError, UsageError } from '../../errors.ts';

export const exec = defineCommand({
  name: 'exec',
  summary: 'Run a command, such as your tests, with a sandbox of its own',
  description:
    'Starts a sandbox in memory on a free port, with a key, and runs the command with ERRAND_BASE_URL, ERRAND_API_KEY, ERRAND_SHOP_URL and ERRAND_LEGACY_BASE_URL set. When the command ends, the sandbox is gone, and errand ends with its exit code. Write -- before a command that has options of its own. On a terminal Ctrl-C reaches the command; elsewhere all that it started ends with it.',
  lists: [{ title: 'Faults', rows: sandboxFaults, note: faultGrammar }],
  arguments: [
    { name: 'command', description: 'what to run, with its arguments', required: true, variadic: true },
  ],
  options: {
    seed: {
      kind: 'integer',
      min: 0,
      max: 2 ** 31 - 1,
      description: 'same seed, same catalogue, ids and outcomes',
    },
    speed: { kind: 'integer', min: 1, max: 1000, description: 'speed-up factor for the life of an order' },
    fault: {
      kind: 'texts',
      placeholder: 'kind[=time][:share%][@path]',
      description: 'make requests fail, seeded: one of the faults below; may be repeated',
    },
  },
  examples: [
    { command: 'errand sandbox exec -- npm test', note: 'with a service of its own, gone when they end' },
    {
      command: "errand sandbox exec --seed 7 --fault '503:20%' -- sh -c 'curl -s $ERRAND_BASE_URL/retailers'",
      note: 'the same ids and faults each time',
    },
  ],
  output: { text: 'what the command prints' },
  readsOnly: true,
  related: ['sandbox serve', 'sandbox mint'],
  async run(context, { command: [command = '', ...args], seed, speed, fault = [] }) {
    const { startSandbox } = await context.sandbox();
    const sandbox = await startSandbox({ seed, speed, faults: fault });
    try {
      const code = await runChild({
        ...{ command, args, isTerminal: context.io.stdin.isTerminal, signal: context.signal },
        environment: {
          ...context.environment,
          ERRAND_BASE_URL: sandbox.baseUrl,
          ERRAND_LEGACY_BASE_URL: sandbox.baseUrl,
          ERRAND_API_KEY: sandbox.apiKey,
          ERRAND_SHOP_URL: sandbox.shopUrl,
        },
        ending: () => endingOf(context.signal.reason, context.io.stdin.isTerminal),
      }).catch((error: unknown) => {
        throw cannotRun(command, error);
      });
      context.signal.throwIfAborted();
      return { kind: 'none', exitCode: code };
    } finally {
      await sandbox.close();
    }
  },
});

/** A terminal's Ctrl-C reaches the command by itself. */
function endingOf(reason: unknown, isTerminal: boolean): NodeJS.Signals | undefined {
  const isCtrlC = reason instanceof ErrandError && reason.category === 'interrupted';
  if (!isCtrlC) return 'SIGTERM';
  return isTerminal ? undefined : 'SIGINT';
}

function cannotRun(command: string, cause: unknown): UsageError {
  const why = Object(cause).code === 'ENOENT' ? 'there is no such program' : Object(cause).message;
  return new UsageError(`"${command}" cannot be run: ${why}`, {
    hint: 'It is started without a shell; for one write `errand sandbox exec -- sh -c COMMAND`.',
    cause,
  });
}
