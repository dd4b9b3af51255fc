import { createHash } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { statOf } from '../platform/proc-stat.ts';
import { withoutKeys } from './keys.ts';
import type { Environment } from './paths.ts';
import { terminalOf } from './terminal.ts';

/**
 * Identifies the actor for the audit chain. The actor is determined on first use, because most runs write no record.
 * @param program names a program that acts on its own, such as an agent. Undefined for a person at a shell.
 */
export function originOf(environment: Environment, command: string, program?: string): () => Origin {
  let origin: Origin | undefined;
  return () => {
    const by = program === undefined ? '' : ` program ${program}`;
    origin ??= {
      ...{ actor: `${systemActor()}${by}`, job: ciJob(environment) ?? null, command },
      terminal: program === undefined ? terminalHash(environment) : undefined,
    };
    return origin;
  };
}

/**
 * Identifies the actor if a program uses the library in this process.
 * @param program is the program's name, if it was given.
 * @param entryPoint is the library's entry point that the program used.
 */
export function originOfProgram(program: string | undefined, entryPoint: string): () => Origin {
  const origin = originOf(process.env, entryPoint);
  const name = program === undefined ? 'program' : `program ${program}`;
  return () => ({ ...origin(), actor: `${name} (${origin().actor})`, terminal: undefined });
}

/** The environment of this process without errand's secrets. Used if a program runs errand as a library. */
export const ownEnvironment = (): Environment => withoutKeys(process.env);

interface Origin {
  readonly actor: string;
  readonly job: string | null;
  readonly command: string;
  readonly terminal?: string | undefined;
}

/** Identifies the terminal of this process in the audit chain; undefined without a terminal. */
function terminalHash(environment: Environment): string | undefined {
  const terminal = terminalOf(environment, process.platform);
  if (terminal === undefined) return undefined;
  // Device and session numbers recur on other machines, and later on this machine. Therefore they are hashed together
  // with the user, the host and the start of the session.
  const facts = [systemActor(), terminal, statOf(Number(statOf('self')?.session))?.started ?? ''];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
}

/** System user and host: `ada@laptop`. */
const systemActor = (): string => `${userName()}@${hostname()}`;

/** Returns the user's name. If the system has no entry for the user, as in a container, returns the uid. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/**
 * Variables that identify a CI job, keyed by the variable that reveals which CI system runs the job. None of them names
 * a person.
 */
const jobVariables: Readonly<Record<string, readonly string[]>> = {
  GITHUB_ACTIONS: ['GITHUB_REPOSITORY', 'GITHUB_RUN_ID', 'GITHUB_RUN_ATTEMPT', 'GITHUB_JOB'],
  GITLAB_CI: ['CI_PROJECT_PATH', 'CI_PIPELINE_ID', 'CI_JOB_ID'],
  BUILDKITE: ['BUILDKITE_PIPELINE_SLUG', 'BUILDKITE_BUILD_NUMBER', 'BUILDKITE_JOB_ID'],
  CIRCLECI: ['CIRCLE_PROJECT_REPONAME', 'CIRCLE_WORKFLOW_ID', 'CIRCLE_BUILD_NUM'],
  TF_BUILD: ['SYSTEM_TEAMPROJECT', 'BUILD_DEFINITIONNAME', 'BUILD_BUILDID'],
  JENKINS_URL: ['JOB_NAME', 'BUILD_NUMBER'],
  CI: [],
};

/** The current CI job: `GITHUB_ACTIONS acme/shop/123/1/restock`; undefined outside CI. */
function ciJob(environment: Environment): string | undefined {
  const [system, names] = Object.entries(jobVariables).find(([name]) => isSet(environment[name])) ?? [];
  if (system === undefined || !names) return undefined;
  const parts = names.map((name) => environment[name]).filter(isSet);
  return [system, ...(parts.length > 0 ? [parts.join('/')] : [])].join(' ').slice(0, maxJobLength);
}

const maxJobLength = 300;

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '' && text !== 'false';
