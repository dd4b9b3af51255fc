import {
  type AdvancedState,
  type ControlAction,
  type ControlActions,
  type ControlState,
  controlPath,
  controlTokenHeader,
} from '../../api/control.ts';
import { isObject, numberIn, own } from '../../api/json.ts';
import { tokenFor } from '../../config/sandbox-token.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import type { Context } from '../../run/context.ts';

/** An action may bring about much; how long its response is waited for without `--timeout`, ms. */
const patienceMs = 10 * 60_000;

/** The sandbox that is named, found to be one. */
export interface Controlled {
  readonly state: ControlState;
  /** @returns how it stands then. @throws ErrandError, UsageError for what the sandbox refuses. */
  act<A extends ControlAction>(action: A, body: ControlActions[A]): Promise<AdvancedState>;
}

/**
 * The sandbox that base URL, profile and environment name. It is asked first whether it is one: to a service that is not,
 * nothing is sent that could change it, and to one that other machines reach nothing at all.
 * @param mayMakeOne an embedded one that nobody has used yet is made. @throws UsageError naming the service and where it was set.
 */
export async function controlled(
  context: Context,
  verb: string,
  { mayMakeOne = false }: { readonly mayMakeOne?: boolean } = {},
): Promise<Controlled> {
  const { baseUrl, timeoutMs } = context.settings;
  const isEmbedded = baseUrl.value === embeddedUrl;
  if (!isEmbedded && !isLoopback(new URL(baseUrl.value).hostname))
    throw refused(context, `sandbox ${verb} acts on a sandbox of this machine`);
  if (!mayMakeOne && !(await mayBeThere(context)))
    throw new ErrandError('not_found', 'there is no sandbox yet; `errand quickstart` makes one');
  const state = await askState(context, verb);
  if ('refusal' in state)
    throw refused(context, `sandbox ${verb} acts on a sandbox of this machine`, `: ${state.refusal}`);
  const client = await context.client();
  const headers = ownHeaders(context);
  return {
    state,
    async act(action, body) {
      const request = { method: 'POST', path: `${controlPath}/${action}`, body: JSON.stringify(body) };
      const timeout = timeoutMs.from === 'flag' ? timeoutMs.value : patienceMs;
      const response = await client
        .raw({ ...request, headers, isKeyless: true }, { timeoutMs: timeout })
        .catch(refusalOfAction);
      const after = 'json' in response ? response.json : undefined;
      if (isState(after)) return { ...after, left_ms: Math.max(0, numberIn(after, 'left_ms') ?? 0) };
      throw new ErrandError('unexpected', `${baseUrl.value} did not say how it stands after ${action}`);
    },
  };
}

/** Whether the sandbox that is named can have anything in it: an embedded one that nobody has used has not. */
export async function mayBeThere({ settings: { baseUrl, folders } }: Context): Promise<boolean> {
  if (baseUrl.value !== embeddedUrl) return true;
  const { hasSandbox } = await import('../../sandbox-door.ts');
  return hasSandbox(folders.state);
}

/** @throws UsageError where the service that is named is not a sandbox. */
export async function checkSandbox(context: Context, verb: string): Promise<void> {
  if (context.settings.baseUrl.value !== embeddedUrl) await askState(context, verb);
}

/** How the sandbox stands, or why it does not say so to this machine. @throws UsageError for no sandbox. */
async function askState(
  context: Context,
  verb: string,
): Promise<ControlState | { readonly refusal: string }> {
  const client = await context.client();
  try {
    const response = await client.raw({
      ...{ method: 'GET', path: controlPath, headers: ownHeaders(context) },
      isKeyless: true,
    });
    const state = 'json' in response ? response.json : await discarded(response.chunks);
    if (isState(state)) return state;
  } catch (error) {
    // What no service has answered is said as for any request.
    if (!(error instanceof ErrandError) || error.facts.status === undefined) throw error;
    if (own(error.facts.details, 'resource') === 'sandbox_control') return { refusal: plain(error.message) };
    throw notSandbox(context, verb, `its response to GET ${controlPath} is ${error.facts.status}`);
  }
  throw notSandbox(context, verb, `it responds to GET ${controlPath} as no sandbox does`);
}

/** What shows a sandbox that this user serves it, where the system does not. */
function ownHeaders({ settings: { baseUrl, folders } }: Context): Record<string, string> {
  const token = tokenFor(folders.state, baseUrl.value);
  return token === undefined ? {} : { [controlTokenHeader]: token };
}

async function discarded(chunks: AsyncIterable<Uint8Array>): Promise<undefined> {
  for await (const _ of chunks) return undefined;
  return undefined;
}

const isState = (value: unknown): value is ControlState =>
  isObject(value) &&
  value.sandbox === 'errand' &&
  isTime(value.now) &&
  Number.isSafeInteger(value.fault_seed) &&
  Array.isArray(value.faults) &&
  value.faults.every((fault) => typeof fault === 'string') &&
  Array.isArray(value.snapshots) &&
  value.snapshots.every((kept) => isObject(kept) && typeof kept.name === 'string' && isTime(kept.taken_at));

const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

const notSandbox = (context: Context, verb: string, why: string): UsageError =>
  refused(context, `sandbox ${verb} acts on a sandbox of errand's`, `; ${why}`);

function refused({ settings: { baseUrl } }: Context, rule: string, why = ''): UsageError {
  const where =
    baseUrl.from === 'flag' || baseUrl.from === 'environment' ? baseUrl.name : `profile ${baseUrl.name}`;
  return new UsageError(`${rule}, and ${where} names ${baseUrl.value}${why}; nothing was changed`, {
    hint: `For the embedded sandbox of this machine add --base-url ${embeddedUrl}; \`errand sandbox serve\` serves one.`,
  });
}

/** The form of what was sent is right, so what the sandbox refuses is what the user gave. */
function refusalOfAction(error: unknown): never {
  const code = error instanceof ErrandError ? error.facts.code : undefined;
  if (!(error instanceof ErrandError) || error.facts.status === undefined) throw error;
  if (code === 'not_found') throw new ErrandError('not_found', plain(error.message), rejected);
  if (code === 'already_exists')
    throw new UsageError(`${plain(error.message)}; --force takes it anew`, rejected);
  if (code === 'bad_request') throw new UsageError(plain(error.message), rejected);
  throw error;
}

const rejected = { outcome: 'rejected', retryable: false } as const;

/** A sentence of the sandbox as a message of the program. */
const plain = (sentence: string): string =>
  sentence.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
