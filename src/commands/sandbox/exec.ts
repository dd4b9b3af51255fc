import { defineCommand } from '../../cli/define.ts';
import { keepingToken } from '../../config/sandbox-token.ts';
import { ErrandError } from '../../platform/errors.ts';
import { runChild } from '../../platform/process.ts';
import { faultList, rehearsalOptions } from './rehearsal-options.ts';
import { scenarioNamed, scenarioOption } from './scenario-file.ts';

export const exec = defineCommand({
  name: 'exec',
  summary: 'Run a command, such as your tests, with a sandbox of its own',
  description:
    'Starts a sandbox in memory on a free port, with a key, and runs the command with ERRAND_BASE_URL, ERRAND_API_KEY, ERRAND_SHOP_URL and ERRAND_LEGACY_BASE_URL set, and ERRAND_DUPLICATE_WINDOW at 0, so that it may place the same order many times. When the command ends, the sandbox is gone, and errand ends with its exit code. Write -- before a command that has options of its own. On a terminal Ctrl-C reaches the command; elsewhere all that it started ends with it.',
  lists: [faultList],
  arguments: [
    { name: 'command', description: 'what to run, with its arguments', required: true, variadic: true },
  ],
  options: {
    scenario: scenarioOption,
    seed: rehearsalOptions.seed,
    speed: rehearsalOptions.speed,
    fault: rehearsalOptions.fault,
  },
  examples: [
    { command: 'errand sandbox exec -- npm test', note: 'with a service of its own, gone when they end' },
    {
      command: "errand sandbox exec --seed 7 --fault '503:20%' -- sh -c 'curl -s $ERRAND_BASE_URL/retailers'",
      note: 'the same ids and faults each time',
    },
    {
      command: 'errand sandbox exec --scenario hostile -- errand search towel',
      note: 'a shop that means harm, for what reads listings',
    },
  ],
  output: { text: 'what the command prints' },
  exitCodes: { 126: 'the command cannot be run', 127: 'there is no such command' },
  readsOnly: true,
  related: ['sandbox serve', 'sandbox mint'],
  async run(context, { command: [command = '', ...args], seed, speed, fault = [], scenario: file }) {
    const { startSandbox } = await import('../../sandbox-door.ts');
    const scenario = await scenarioNamed(context, file, seed);
    const started = await startSandbox({ seed, speed, faults: fault, scenario });
    const sandbox = await keepingToken(context.settings.folders.state, started);
    try {
      const code = await runChild({
        ...{ command, args, isTerminal: context.io.stdin.isTerminal, signal: context.signal },
        environment: {
          ...context.environment,
          ERRAND_BASE_URL: sandbox.baseUrl,
          ERRAND_LEGACY_BASE_URL: sandbox.baseUrl,
          ERRAND_API_KEY: sandbox.apiKey,
          ERRAND_SHOP_URL: sandbox.shopUrl,
          // Allow the same order many times, because a test may place it repeatedly.
          ERRAND_DUPLICATE_WINDOW: '0',
        },
      }).catch((error: unknown) => {
        throw new NotStarted(command, error);
      });
      context.signal.throwIfAborted();
      return { kind: 'none', exitCode: code };
    } finally {
      await sandbox.close();
    }
  },
});

/**
 * The command could not be started. The exit code is the one that a shell would return: 127 if there is no such
 * program, otherwise 126.
 */
class NotStarted extends ErrandError {
  readonly #code: 126 | 127;

  constructor(command: string, cause: unknown) {
    const isMissing = Object(cause).code === 'ENOENT';
    const why = isMissing ? 'there is no such program' : Object(cause).message;
    super('usage', `"${command}" cannot be run: ${why}`, {
      outcome: 'not_sent',
      retryable: false,
      hint: 'It is started without a shell; for one write `errand sandbox exec -- sh -c COMMAND`.',
      cause,
    });
    this.#code = isMissing ? 127 : 126;
  }

  override get exitCode(): number {
    return this.#code;
  }
}
