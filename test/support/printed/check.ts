import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { shapeSchema } from '../../../src/api/openapi.ts';
import { ownShapes } from '../../../src/api/outputs/index.ts';
import { schemas } from '../../../src/api/schemas/index.ts';

/** A process's arguments and output; a stream is undefined if it was not captured in full. */
export interface Recorded {
  readonly argv: readonly string[];
  /** ERRAND_OUTPUT. */
  readonly preset: string;
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

export interface Leniency {
  /**
   * The service in this test misbehaves on purpose, so its records are not validated. Errand's own records, list
   * envelopes and all failures still are.
   */
  readonly oddService?: boolean;
}

/**
 * Validates a workspace's recorded output against the published schemas, then deletes the recordings. @throws Error.
 */
export function checkPrinted(folder: string, leniency: Leniency): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
    const file = join(folder, name);
    const recorded: Recorded = JSON.parse(readFileSync(file, 'utf8'));
    rmSync(file, { force: true });
    checkRun(recorded, leniency);
  }
}

/** Checks what one run printed. @throws Error. */
export function checkRun(recorded: Recorded, leniency: Leniency): void {
  const wrong = problemIn(recorded, leniency);
  if (wrong !== undefined)
    throw new Error(`errand ${recorded.argv.join(' ')}\nprinted what its schema does not say: ${wrong}`);
}

/** Validates a process's output against `errand schema output`; undefined if it conforms. */
export function problemIn(recorded: Recorded, leniency: Leniency = {}): string | undefined {
  const format = formatOf(recorded);
  if (format === undefined) return undefined;
  return errorProblem(recorded) ?? outputProblem(recorded, format, leniency);
}

/** Options that replace the records with something else, or show only a part. */
const others = /^--(?:query|fields|dry-run|curl|help|version)\b|^-[hV]$/;

/** The requested format; undefined if it is not JSON or the output is partial. */
function formatOf({ argv, preset }: Recorded): 'json' | 'ndjson' | undefined {
  if (argv.some((word) => others.test(word)) || argv[0] === 'help' || argv[0] === '__complete')
    return undefined;
  const given = argv.flatMap((word, index) => {
    if (word === '-o' || word === '--output') return [argv[index + 1]];
    const [, value] = /^(?:--output=|-o=?)(.+)$/.exec(word) ?? [];
    return value === undefined ? [] : [value];
  });
  const format = given.at(-1) ?? preset;
  return format === 'json' || format === 'ndjson' ? format : undefined;
}

/** Validates each JSON error line on stderr. */
function errorProblem({ stderr = '' }: Recorded): string | undefined {
  const failures = stderr.split('\n').filter((line) => line.startsWith('{"error":'));
  return first(failures, (line) => mismatch('error', JSON.parse(line), {}));
}

function outputProblem(
  { argv, code, stdout }: Recorded,
  format: string,
  leniency: Leniency,
): string | undefined {
  const name = commandNamed(argv);
  // The reader cut the output short.
  if (name === undefined || stdout === undefined || stdout.trim() === '') return undefined;
  const { schemas: all } = published();
  const { description = '' } = Object(all.$defs[name]);
  const printsJson = !Object.hasOwn(Object(all.$defs[`${name}.line`]), 'not');
  if (!printsJson)
    return description.startsWith('nothing') ? `it prints nothing: ${stdout.slice(0, 200)}` : undefined;
  // Some of its output is not JSON.
  if (/\b(?:a CSV|as it comes|in the format of)\b/.test(description) && !/^\s*[[{]/.test(stdout))
    return undefined;
  if (format === 'ndjson')
    return first(stdout.trimEnd().split('\n'), (line) => lineProblem(`${name}.line`, line, leniency));
  return lineProblem(name, stdout, leniency, code);
}

function lineProblem(name: string, text: string, leniency: Leniency, code = 0): string | undefined {
  try {
    return mismatch(name, JSON.parse(text), leniency);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // An interrupted list has its records but no end.
    return code >= 128 ? undefined : `not JSON (${error.message}): ${text.slice(0, 200)}`;
  }
}

function first<T>(values: readonly T[], problem: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = problem(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds the command in a command line; handles aliases and default verbs. */
function commandNamed(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  for (const index of words.keys()) {
    const line = `${words.slice(index).join('.')}.`;
    const [found] = published()
      .outputs.flatMap(({ name, aliases }) => [name, ...aliases].map((typed) => ({ name, typed })))
      .filter(({ typed }) => line.startsWith(`${typed}.`))
      .toSorted((one, other) => other.typed.length - one.typed.length);
    if (found) return found.name;
  }
  return undefined;
}

interface Published {
  readonly outputs: readonly { readonly name: string; readonly aliases: readonly string[] }[];
  readonly schemas: { readonly $defs: Readonly<Record<string, unknown>> };
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

let read: Published | undefined;

/** The schemas published by the built program; fetched once per build and cached on disk for other test files. */
function published(): Published {
  if (read) return read;
  const folder = join(root, 'node_modules/.cache/errand');
  const name = `outputs-${statSync(join(root, 'dist/main.cjs')).mtimeMs}.json`;
  const kept = join(folder, name);
  if (!existsSync(kept)) {
    mkdirSync(folder, { recursive: true });
    const ask = (...more: string[]): string =>
      execFileSync(
        process.execPath,
        [join(root, 'bin/errand.js'), 'schema', 'output', ...more, '-o', 'json'],
        {
          env: { HOME: folder },
          encoding: 'utf8',
          maxBuffer: 64 * 1024 * 1024,
        },
      );
    const made = join(folder, `${randomUUID()}.part`);
    writeFileSync(made, `{"outputs":${ask()},"schemas":${ask('--all')}}`);
    for (const old of readdirSync(folder).filter((one) => one.endsWith('.json') && one !== name))
      rmSync(join(folder, old), { force: true });
    renameSync(made, kept);
  }
  read = JSON.parse(readFileSync(kept, 'utf8')) as Published;
  return read;
}

const validators = new Map<
  boolean,
  { readonly ajv: Ajv2020; readonly made: Map<string, ValidateFunction> }
>();

/** Explains why a value does not match a published definition; undefined if it does. */
export function mismatch(name: string, value: unknown, { oddService = false }: Leniency): string | undefined {
  const known = validators.get(oddService) ?? { ajv: validator(oddService), made: new Map() };
  validators.set(oddService, known);
  const validate = known.made.get(name) ?? known.ajv.compile({ $ref: `errand#/$defs/${name}` });
  known.made.set(name, validate);
  // Drop the type guard, which is irrelevant here.
  const holds: boolean = validate(value);
  if (holds) return undefined;
  const { errors }: { errors?: ErrorObject[] | null } = validate;
  const found = (errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${name}: ${found.join('; ')}: ${JSON.stringify(value).slice(0, 500)}`;
}

function validator(oddService: boolean): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addKeyword('x-observed');
  const { $defs, ...document } = published().schemas;
  const defs = Object.entries($defs).map(([name, schema]) => [
    name,
    isOfService(name) ? (oddService ? {} : contracted(name)) : schema,
  ]);
  ajv.addSchema({ ...document, $defs: Object.fromEntries(defs) }, 'errand');
  return ajv;
}

/** Published schemas of service records allow unknown fields; the sandbox's records must match the contract exactly. */
function contracted(name: string): unknown {
  const [shape = '', rows] = name.split('.');
  const whole = shapeSchema(shape as keyof typeof schemas, false);
  return rows === undefined ? whole : Object(whole.properties)[rows].items;
}

/** Whether a definition is a service record: a contract shape, or a record of a list in one. */
const isOfService = (name: string): boolean =>
  !Object.hasOwn(ownShapes, name) &&
  Object.keys(schemas).some((shape) => name === shape || name.startsWith(`${shape}.`));
