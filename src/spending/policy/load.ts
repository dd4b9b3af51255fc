import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ErrandError, UsageError } from '../../errors.ts';
import type { OrderContext, OrderSettings } from '../../order-context.ts';
import { PrivateFileError, readGuardedFile } from '../../private-files.ts';
import { reasonOf } from '../../settings/paths.ts';
import type { Policy } from './policy.ts';

/** What a run has read of its policy so far. */
const loaded = new WeakMap<OrderSettings, { readonly bytes: Buffer; readonly policy: Policy }>();

/**
 * The policy that says what may be spent, as its file is at this moment: a question may stand for hours. Undefined where
 * there is none, which takes no more than a look at its path.
 * @throws ErrandError policy for a file that cannot be read, understood or trusted: then nothing is ordered.
 */
export async function loadPolicy({ settings }: Pick<OrderContext, 'settings'>): Promise<Policy | undefined> {
  const bytes = bytesOf(settings);
  if (bytes === undefined) return undefined;
  const before = loaded.get(settings);
  if (before?.bytes.equals(bytes)) return before.policy;
  const policy = await read(settings.policy?.value ?? '', bytes);
  loaded.set(settings, { bytes, policy });
  return policy;
}

/** Whether there may be a policy, as far as its path tells: nothing is read. */
export const mayHavePolicy = ({ settings: { policy } }: Pick<OrderContext, 'settings'>): boolean =>
  policy !== undefined &&
  (policy.from !== 'default' || existsSync(policy.value) || existsSync(misnamed(policy.value)));

/** What people call a policy that is read under another name. */
const misnamed = (file: string): string => file.replace(/\.yaml$/, '.yml');

/** SHA-256 of the file that this run has read its policy from; of nothing where it has read none. */
export const policyHash = ({ settings }: Pick<OrderContext, 'settings'>): string =>
  createHash('sha256')
    .update(loaded.get(settings)?.bytes ?? '')
    .digest('hex');

/** For the moment before the orders are written down. @throws ErrandError policy where the file is no longer what was read. */
export function checkUnchanged({ settings }: Pick<OrderContext, 'settings'>): void {
  const file = settings.policy?.value ?? '';
  const bytes = bytesOf(settings);
  if (bytes !== undefined && loaded.get(settings)?.bytes.equals(bytes)) return;
  throw new ErrandError('policy', `${file} was changed while this command waited; nothing was sent`, {
    code: 'policy_changed',
    outcome: 'not_sent',
    retryable: true,
    details: { file },
    hint: 'Run the command again: it then follows the policy as it is now.',
    next: [{ command: 'errand policy show', when: 'to see what it says now' }],
  });
}

async function read(file: string, bytes: Buffer): Promise<Policy> {
  try {
    const { readPolicy } = await import('./read.ts');
    const policy = readPolicy(file, new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (policy.approvers.length > 0) (await import('../approval/approvers.ts')).readApprovers(policy);
    return policy;
  } catch (cause) {
    if (cause instanceof UsageError) throw unusable(file, cause.message, cause);
    if (cause instanceof TypeError) throw unusable(file, `${file} is not UTF-8 text`, cause);
    throw cause;
  }
}

/** Undefined where no policy is there, and none is named. */
function bytesOf({ policy }: OrderSettings): Buffer | undefined {
  if (!policy) return undefined;
  const { value: file, from, name } = policy;
  const bytes = guardedBytes(file);
  if (bytes !== undefined) return bytes;
  if (from === 'default') {
    const other = misnamed(file);
    if (!existsSync(other)) return undefined;
    throw unusable(file, `it is read from ${file}, and there is ${other}; rename that`);
  }
  const named = from === 'profile' ? `the profile ${name}` : name;
  throw unusable(file, `${file}, which ${named} names as the policy, does not exist`);
}

function guardedBytes(file: string): Buffer | undefined {
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
    hint: 'No order is sent until the policy is readable and writable only by its owner.',
    next: [{ command: 'errand policy show', when: 'to see whether it can be used' }],
    cause,
  });
