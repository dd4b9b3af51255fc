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

/** Response timeout, in ms, for an action without `--timeout`. An action may have to do much work. */
const defaultTimeoutMs = 10 * 60_000;

/** The selected service, once it has proved to be a sandbox. */
export interface Controlled {
  readonly state: ControlState;
  /** @returns the resulting state. @throws ErrandError, or UsageError if the sandbox refuses. */
  act<A extends ControlAction>(action: A, body: ControlActions[A]): Promise<AdvancedState>;
}

/**
 * Connects to the sandbox that base URL, profile and environment select. First checks that the service is a sandbox, so
 * that no other service receives a request that could change it. If the service is not on loopback, sends it no request
 * at all.
 * @param mayMakeOne allows creating the embedded sandbox if it was never used.
 * @throws UsageError naming the service and where it was set.
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
      const timeout = timeoutMs.from === 'flag' ? timeoutMs.value : defaultTimeoutMs;
      const response = await client
        .raw({ ...request, headers, isKeyless: true }, { timeoutMs: timeout })
        .catch(throwActionError);
      const after = 'json' in response ? response.json : undefined;
      if (isState(after)) return { ...after, left_ms: Math.max(0, numberIn(after, 'left_ms') ?? 0) };
      throw new ErrandError('unexpected', `${baseUrl.value} did not say how it stands after ${action}`);
    },
  };
}

/** Whether the selected sandbox may hold data. An embedded sandbox that was never used holds none. */
export async function mayBeThere({ settings: { baseUrl, folders } }: Context): Promise<boolean> {
  if (baseUrl.value !== embeddedUrl) return true;
  const { hasSandbox } = await import('../../sandbox-door.ts');
  return hasSandbox(folders.state);
}

/** @throws UsageError if the selected service is not a sandbox. */
export async function checkSandbox(context: Context, verb: string): Promise<void> {
  if (context.settings.baseUrl.value !== embeddedUrl) await askState(context, verb);
}

/**
 * Reads the sandbox's state. If the sandbox withholds its state from this machine, returns the reason instead.
 * @throws UsageError if the service is not a sandbox.
 */
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
    // If there is no response, report the failure as for any other request.
    if (!(error instanceof ErrandError) || error.facts.status === undefined) throw error;
    if (own(error.facts.details, 'resource') === 'sandbox_control') return { refusal: plain(error.message) };
    throw notSandbox(context, verb, `its response to GET ${controlPath} is ${error.facts.status}`);
  }
  throw notSandbox(context, verb, `it responds to GET ${controlPath} as no sandbox does`);
}

/**
 * Headers that prove to the sandbox that a request comes from the user who runs the sandbox. Some systems need these
 * headers, because they cannot tell which user sent a request.
 */
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
  value.snapshots.every(
    (snapshot) => isObject(snapshot) && typeof snapshot.name === 'string' && isTime(snapshot.taken_at),
  );

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

/**
 * Rewords an error from the sandbox for the user. The request is well-formed, so the error is about the user's input.
 */
function throwActionError(error: unknown): never {
  const code = error instanceof ErrandError ? error.facts.code : undefined;
  if (!(error instanceof ErrandError) || error.facts.status === undefined) throw error;
  if (code === 'not_found') throw new ErrandError('not_found', plain(error.message), rejected);
  if (code === 'already_exists')
    throw new UsageError(`${plain(error.message)}; --force takes it anew`, rejected);
  if (code === 'bad_request') throw new UsageError(plain(error.message), rejected);
  throw error;
}

const rejected = { outcome: 'rejected', retryable: false } as const;

/** Turns a sentence from the sandbox into the wording of an errand message. */
const plain = (sentence: string): string =>
  sentence.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
