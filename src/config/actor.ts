import { hostname, userInfo } from 'node:os';
import { withoutKeys } from './keys.ts';
import type { Environment } from './paths.ts';

/**
 * Identifies the actor for the audit chain. Resolved on first use, because most runs write no record.
 * @param program is a program acting on its own, such as an agent; undefined for a person at a shell.
 */
export function originOf(environment: Environment, command: string, program?: string): () => Origin {
  let origin: Origin | undefined;
  return () => {
    const by = program === undefined ? '' : ` program ${program}`;
    origin ??= { actor: `${systemActor()}${by}`, job: ciJob(environment) ?? null, command };
    return origin;
  };
}

/**
 * Does the same for a program that uses the library in this process. @param program its name, if given.
 * @param entryPoint the entry point that the program used.
 */
export function originOfProgram(program: string | undefined, entryPoint: string): () => Origin {
  const origin = originOf(process.env, entryPoint);
  const name = program === undefined ? 'program' : `program ${program}`;
  return () => ({ ...origin(), actor: `${name} (${origin().actor})` });
}

/** This process's environment without errand's secrets, when a program started it. */
export const ownEnvironment = (): Environment => withoutKeys(process.env);

interface Origin {
  readonly actor: string;
  readonly job: string | null;
  readonly command: string;
}

/** System user and host: `ada@laptop`. */
const systemActor = (): string => `${userName()}@${hostname()}`;

/** The system may have no entry for the user, as in a container; falls back to the uid. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Variables that identify a CI job, keyed by the variable that reveals the system. None names a person. */
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
