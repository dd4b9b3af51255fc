import type { Scenario } from '../../api/scenario/scenario.ts';
import { type BuiltInScenario, builtInScenarios, scenarioAddresses } from '../../api/scenario/words.ts';
import { isSecretVariable } from '../../config/keys.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readBytes } from '../../run/read-document.ts';

/** Maximum size of a scenario, in bytes. */
const largest = 5 * 1024 * 1024;

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A scenario, together with what is needed to report problems in it. */
export interface ScenarioFile {
  /** File name, `stdin`, or the name of a bundled scenario. */
  readonly name: string;
  readonly scenario: Scenario;
  /** One-based line of a part of the file. */
  lineOf(path: Problem['path']): number;
  refused(problems: readonly Problem[]): UsageError;
}

/** Option of the commands that start from a scenario. */
export const scenarioOption = {
  kind: 'text',
  placeholder: 'file',
  completes: 'files',
  description: 'begin with what a YAML file says: keys, orders, listings, the clock; or hostile',
} as const;

export const isBuiltIn = (name: string): name is BuiltInScenario => Object.hasOwn(builtInScenarios, name);

/** Reads a scenario file, or a bundled scenario by name. @throws UsageError naming file, line and field. */
export async function readScenario(
  context: Pick<Context, 'readInput' | 'signal' | 'environment'>,
  flag: string,
  given: string,
  seed?: number,
): Promise<ScenarioFile> {
  if (isBuiltIn(given)) {
    const { builtInScenario } = await import('../../sandbox-door.ts');
    return checked(given, await builtInScenario(given, seed), { lineOf: () => 1, environment: {} });
  }
  const name = given === '-' ? 'stdin' : given;
  const bytes = await readBytes(context, flag, given, { bytes: largest, holds: 'one scenario' });
  const { locatedDocument } = await import('../../cli/located-document.ts');
  const { value, lineOf } = locatedDocument(name, decoded(name, bytes));
  return checked(name, value, { lineOf, environment: context.environment });
}

/** Reads the scenario of `--scenario`, if given. @throws UsageError as `readScenario` does. */
export async function scenarioNamed(
  context: Parameters<typeof readScenario>[0],
  given: string | undefined,
  seed: number | undefined,
): Promise<ScenarioFile | undefined> {
  return given === undefined ? undefined : readScenario(context, '--scenario', given, seed);
}

function decoded(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${name} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

interface Source extends Pick<ScenarioFile, 'lineOf'> {
  readonly environment: Readonly<Record<string, string | undefined>>;
}

async function checked(name: string, value: unknown, { lineOf, environment }: Source): Promise<ScenarioFile> {
  const [{ Scenario }, { checkAgainst }] = await Promise.all([
    import('../../api/scenario/scenario.ts'),
    import('../../api/schemas/check.ts'),
  ]);
  const refused = (problems: readonly Problem[]): UsageError => scenarioError(name, lineOf, problems);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${name} holds no scenario; it is a map that begins with version: 1`, {
      next: [{ command: 'errand schema Scenario', when: 'to see what it can have' }],
    });
  const problems: Problem[] = [];
  const filled = withVariables(addressed(value), environment, (problem) => problems.push(problem));
  if (problems.length > 0) throw refused(problems);
  const { value: scenario, issues } = checkAgainst(Scenario, filled, 'body');
  if (issues) throw refused(issues.map(({ loc, msg }) => ({ path: loc.slice(1), message: wording(msg) })));
  return { name, scenario, lineOf, refused };
}

/** Fills in the address placeholders of a sandbox that does not run yet. */
function addressed(value: unknown): unknown {
  if (typeof value === 'string') {
    return Object.entries(scenarioAddresses).reduce(
      (text, [name, address]) => text.replaceAll(`{${name}}`, address),
      value,
    );
  }
  if (Array.isArray(value)) return value.map(addressed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, addressed(one)]));
}

const variable = /\$\{env:([^}]{0,200})\}/g;

/** Fills in `${env:NAME}` in texts. A scenario may not read errand's own secrets. */
function withVariables(
  value: unknown,
  environment: Source['environment'],
  report: (problem: Problem) => void,
  path: Problem['path'] = [],
): unknown {
  if (typeof value === 'string')
    return value.replace(variable, (_, name: string) => {
      const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
      const message = isSecretVariable(name)
        ? `the environment variable ${name} holds a secret, which no scenario reads`
        : `the environment variable ${name} is not set`;
      if (found !== undefined && !isSecretVariable(name)) return found;
      report({ path, message });
      return '';
    });
  if (Array.isArray(value))
    return value.map((one, at) => withVariables(one, environment, report, [...path, at]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, one]) => [
      field,
      withVariables(one, environment, report, [...path, field]),
    ]),
  );
}

const wordings: Readonly<Record<string, string>> = {
  'Field required': 'is missing',
  'Extra inputs are not permitted': 'is not known here',
};

const wording = (message: string): string =>
  wordings[message] ??
  message
    .replace(/^Invalid option: expected one of /, 'takes one of ')
    .replaceAll('"|"', ', ')
    .replaceAll('"', message.startsWith('Invalid option') ? '' : '"');

function scenarioError(
  name: string,
  lineOf: ScenarioFile['lineOf'],
  problems: readonly Problem[],
): UsageError {
  const messages = problems.map(({ path, message }) => {
    const line = lineOf(path);
    const field = [`line ${line}`, fieldName(path)].filter(Boolean).join(', ');
    return { line, path, field, message };
  });
  const [first, ...others] = messages;
  const more = others.length > 0 ? `; and ${others.length} more` : '';
  return new UsageError(`${name}, ${first?.field}: ${first?.message}${more}`, {
    ...(others.length > 0 && { details: { problems: messages } }),
    next: [{ command: 'errand schema Scenario', when: 'to see what a scenario can have' }],
  });
}

/** Formats a field path such as `orders[2].order.max_price`. Indexes start at one, because people read them. */
const fieldName = (path: Problem['path']): string =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part + 1}]` : index === 0 ? part : `.${part}`))
    .join('');
