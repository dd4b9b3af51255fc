import { hostname, userInfo } from 'node:os';
import { withoutKeys } from './keys.ts';
import type { Environment } from './paths.ts';

/**
 * Who acts, for the audit chain. It is looked up when it is first needed: most runs write no record.
 * @param program that acts on its own, such as an agent; undefined for a person at a shell.
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
 * The same for a program that uses the library, of this process. @param program its name, where it gives one.
 * @param door the door that it came through.
 */
export function originOfProgram(program: string | undefined, door: string): () => Origin {
  const origin = originOf(process.env, door);
  const name = program === undefined ? 'program' : `program ${program}`;
  return () => ({ ...origin(), actor: `${name} (${origin().actor})` });
}

/** The environment of this process without our keys, for what a program has started. */
export const ownEnvironment = (): Environment => withoutKeys(process.env);

interface Origin {
  readonly actor: string;
  readonly job: string | null;
  readonly command: string;
}

/** User and host of the system: `ada@laptop`. */
const systemActor = (): string => `${userName()}@${hostname()}`;

/** A system may have no entry for the user, as in a container; then the number has to do. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Variables that name a job, by the system that sets the first of them. No person stands in any. */
const jobVariables: Readonly<Record<string, readonly string[]>> = {
  GITHUB_ACTIONS: ['GITHUB_REPOSITORY', 'GITHUB_RUN_ID', 'GITHUB_RUN_ATTEMPT', 'GITHUB_JOB'],
  GITLAB_CI: ['CI_PROJECT_PATH', 'CI_PIPELINE_ID', 'CI_JOB_ID'],
  BUILDKITE: ['BUILDKITE_PIPELINE_SLUG', 'BUILDKITE_BUILD_NUMBER', 'BUILDKITE_JOB_ID'],
  CIRCLECI: ['CIRCLE_PROJECT_REPONAME', 'CIRCLE_WORKFLOW_ID', 'CIRCLE_BUILD_NUM'],
  TF_BUILD: ['SYSTEM_TEAMPROJECT', 'BUILD_DEFINITIONNAME', 'BUILD_BUILDID'],
  JENKINS_URL: ['JOB_NAME', 'BUILD_NUMBER'],
  CI: [],
};

/** The CI job that runs this: `GITHUB_ACTIONS acme/shop/123/1/restock`; undefined where none does. */
function ciJob(environment: Environment): string | undefined {
  const [system, names] = Object.entries(jobVariables).find(([name]) => isSet(environment[name])) ?? [];
  if (system === undefined || !names) return undefined;
  const parts = names.map((name) => environment[name]).filter(isSet);
  return [system, ...(parts.length > 0 ? [parts.join('/')] : [])].join(' ').slice(0, longestJob);
}

const longestJob = 300;

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '' && text !== 'false';
