import type { Context } from '../../context.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import { PrivateFileError, readGuardedFile } from '../../private-files.ts';
import { reasonOf } from '../../settings/paths.ts';
import type { Settings } from '../../settings/resolve.ts';
import type { Policy } from './policy.ts';

/** One run follows one policy, though the file be changed meanwhile. */
const loaded = new WeakMap<Settings, Promise<Policy | undefined>>();

/**
 * The policy that says what may be spent; undefined where there is none, which takes no more than a look at its path.
 * @throws ErrandError policy for a file that cannot be read, understood or trusted: then nothing is ordered.
 */
export function loadPolicy({ settings }: Pick<Context, 'settings'>): Promise<Policy | undefined> {
  const known = loaded.get(settings) ?? read(settings);
  loaded.set(settings, known);
  return known;
}

async function read({ policy: { value: file, from, name } }: Settings): Promise<Policy | undefined> {
  const bytes = bytesOf(file);
  if (bytes === undefined && from === 'default') return undefined;
  if (bytes === undefined) {
    const named = from === 'profile' ? `the profile ${name}` : name;
    throw unusable(file, `${file}, which ${named} names as the policy, does not exist`);
  }
  try {
    const { readPolicy } = await import('./read.ts');
    return readPolicy(file, new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof UsageError) throw unusable(file, cause.message, cause);
    if (cause instanceof TypeError) throw unusable(file, `${file} is not UTF-8 text`, cause);
    throw cause;
  }
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readGuardedFile(file);
  } catch (cause) {
    if (cause instanceof PrivateFileError) throw unusable(file, cause.message, cause);
    throw unusable(file, `${file} cannot be read (${reasonOf(cause)})`, cause);
  }
}

/** Nobody knows what may be spent, so nothing is. */
const unusable = (file: string, what: string, cause?: unknown): ErrandError =>
  new ErrandError('policy', `the policy cannot be used: ${what}`, {
    code: 'policy_unusable',
    outcome: 'not_sent',
    retryable: false,
    details: { file },
    hint: 'No order is sent until the policy can be read, and nobody but its owner can change it.',
    next: [{ command: 'errand policy show', when: 'to see whether it can be used' }],
    cause,
  });
