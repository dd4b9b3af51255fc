import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { findLooseFolders, reasonOf } from '../../config/paths.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { PrivateFileError, readGuardedFile } from '../../platform/private-files.ts';
import { shellLine } from '../../platform/shell.ts';
import type { OrderContext, OrderSettings } from '../../run/order-context.ts';
import type { Policy } from './policy.ts';
import { type PolicyContext, publishedPolicy, type SignedPolicy } from './published.ts';

/** The text of a policy. */
interface Source {
  /** Display name for messages. */
  readonly file: string;
  readonly bytes: Buffer;
  /** The published policy. Undefined if the policy is a file on this machine. */
  readonly published?: SignedPolicy;
}

/** For each run, the policy that it has loaded last, and the source of that policy. */
const loaded = new WeakMap<OrderSettings, { readonly source: Source; readonly policy: Policy }>();

/**
 * Loads the policy that applies now. It is loaded again on each call, because a prompt may stay open for hours. The
 * policy comes from the policy file. If machines share a journal, it comes from the policy published in that journal.
 * If there is no policy, quickly returns undefined.
 * @throws ErrandError policy if the policy cannot be read, parsed or trusted. Nothing is ordered in that case.
 */
export async function loadPolicy(context: PolicyContext): Promise<Policy | undefined> {
  const { settings } = context;
  const bytes = bytesOf(settings);
  const published = await publishedPolicy(context);
  const source = sourceOf(settings, bytes, published);
  if (source === undefined) return undefined;
  checkFolders(settings, source);
  const before = loaded.get(settings);
  if (before && isSame(before.source, source)) return before.policy;
  const policy = await read(source);
  loaded.set(settings, { source, policy });
  return policy;
}

/** @throws ErrandError policy if others may replace a folder that determines what the policy is, or what was spent. */
function checkFolders({ folders }: OrderSettings, { file }: Source): void {
  const loose = findLooseFolders(folders);
  if (!loose) return;
  throw new ErrandError('policy', `the policy cannot be relied on: ${loose.message}`, {
    code: 'folder_replaceable',
    outcome: 'not_sent',
    retryable: false,
    details: { file },
    hint: `No order is sent under a policy until that is mended. ${loose.remedy}`,
  });
}

/** Parses a published policy. @throws ErrandError policy. */
export const readPublished = (
  { settings }: Pick<PolicyContext, 'settings'>,
  published: SignedPolicy,
): Promise<Policy> => read(publishedSource(settings, published));

/**
 * Reads a policy file that is to be published, together with its approvers' key files.
 * @throws ErrandError policy if the policy cannot be used.
 */
export async function readFile(file: string): Promise<{
  readonly text: string;
  readonly policy: Policy;
  readonly keys: Readonly<Record<string, string>>;
}> {
  const bytes = guardedBytes(file);
  if (bytes === undefined)
    throw unusable(file, `${file} does not exist`, {
      hint: 'Write it, for example with `errand policy init`.',
    });
  const policy = await read({ file, bytes });
  const { keysText } = await import('../approval/approvers.ts');
  const keys = Object.fromEntries(
    policy.approvers.map((approver) => [approver.name, keysText(policy, approver)]),
  );
  return { text: bytes.toString('utf8'), policy, keys };
}

/**
 * Chooses the source of the policy.
 * @throws ErrandError policy if machines share a journal, and this machine would follow a different policy than the
 * others.
 */
function sourceOf(
  settings: OrderSettings,
  bytes: Buffer | undefined,
  published: SignedPolicy | undefined,
): Source | undefined {
  const file = settings.policy?.value ?? '';
  if (!settings.database) return bytes && { file, bytes };
  const { shown } = settings.database;
  if (!published) {
    if (bytes === undefined) return undefined;
    throw apart(
      file,
      'policy_not_published',
      `${file} is a policy of this machine alone, and none is published in ${shown}: machines with different policies cannot share a limit`,
      publishLine(file),
    );
  }
  const source = publishedSource(settings, published);
  if (bytes === undefined || bytes.equals(source.bytes)) return source;
  throw apart(
    file,
    'policy_differs',
    `${file} differs from the policy that ${published.by} published in ${shown} on ${published.at}: machines with different policies cannot share a limit`,
    publishLine(file),
  );
}

const publishLine = (file: string): string =>
  `${shellLine`errand policy publish ${file}`} --key ~/.ssh/id_ed25519`;

const publishedSource = (settings: OrderSettings, published: SignedPolicy): Source => ({
  file: `the policy published in ${settings.database?.shown ?? 'the database'}`,
  bytes: Buffer.from(published.text),
  published,
});

const isSame = (one: Source, other: Source): boolean =>
  one.bytes.equals(other.bytes) && JSON.stringify(one.published) === JSON.stringify(other.published);

/** The path with the extension `.yml`, which people may have used by mistake instead of `.yaml`. */
const misnamed = (file: string): string => file.replace(/\.yaml$/, '.yml');

/** SHA-256 of the policy that this run has loaded, or of an empty text if it has loaded none. */
export const policyHash = ({ settings }: Pick<OrderContext, 'settings'>): string =>
  createHash('sha256')
    .update(loaded.get(settings)?.source.bytes ?? '')
    .digest('hex');

/**
 * Checks just before the orders are recorded that the policy file has not changed. For a published policy, the journal
 * does this.
 * @throws ErrandError policy if the file has changed since it was read.
 */
export function checkUnchanged({ settings }: Pick<OrderContext, 'settings'>): void {
  const file = settings.policy?.value ?? '';
  const bytes = bytesOf(settings);
  const source = loaded.get(settings)?.source;
  if (bytes === undefined ? source?.published : source?.bytes.equals(bytes)) return;
  throw new ErrandError('policy', `${file} was changed while this command waited; nothing was sent`, {
    code: 'policy_changed',
    outcome: 'not_sent',
    retryable: true,
    details: { file },
    hint: 'Run the command again: it then follows the policy as it is now.',
    next: [{ command: 'errand policy show', when: 'to see what it says now' }],
  });
}

const yamlHint =
  'The mistake may also be above it: lines of one block begin in one column, with spaces, and each quote, brace or bracket is closed.';

async function read({ file, bytes, published }: Source): Promise<Policy> {
  try {
    const { readPolicy } = await import('./read.ts');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const policy = {
      ...readPolicy(file, text),
      ...(published && { keys: published.keys, signer: published.signer }),
    };
    if (policy.approvers.length > 0) (await import('../approval/approvers.ts')).readApprovers(policy);
    return policy;
  } catch (cause) {
    if (cause instanceof UsageError)
      throw unusable(file, cause.message, {
        hint: `Correct that line${published ? ' in the file it came from, and publish that again' : ''}.${cause.cause === undefined ? '' : ` ${yamlHint}`}`,
        cause,
      });
    if (cause instanceof TypeError)
      throw unusable(file, `${file} is not UTF-8 text`, { hint: 'Save it as UTF-8 text.', cause });
    throw cause;
  }
}

/** Content of the policy file. Undefined if there is no policy file and the user has not named one. */
function bytesOf({ policy }: OrderSettings): Buffer | undefined {
  if (!policy) return undefined;
  const { value: file, from, name } = policy;
  const bytes = guardedBytes(file);
  if (bytes !== undefined) return bytes;
  if (from === 'default') {
    const other = misnamed(file);
    if (!existsSync(other)) return undefined;
    throw unusable(file, `it is read from ${file}, and there is ${other}`, {
      hint: `Rename it: ${shellLine`mv ${other} ${file}`}`,
    });
  }
  const named = from === 'profile' ? `the profile ${name}` : name;
  throw unusable(file, `${file}, which ${named} names as the policy, does not exist`, {
    hint: `Put the policy there, or let ${named} name another file or none.`,
  });
}

function guardedBytes(file: string): Buffer | undefined {
  try {
    return readGuardedFile(file);
  } catch (cause) {
    if (cause instanceof PrivateFileError)
      throw unusable(file, cause.message, {
        hint: 'A policy is a file that only its owner may change, in folders that only their owner may change.',
        cause,
      });
    throw unusable(file, `${file} cannot be read (${reasonOf(cause)})`, {
      hint: 'Make it readable for the user who runs errand.',
      cause,
    });
  }
}

/**
 * The error if machines share a journal but have different policies. They need the same policy, because a limit must
 * apply to all of them together.
 */
const apart = (file: string, code: string, message: string, publish: string): ErrandError =>
  new ErrandError('policy', message, {
    code,
    outcome: 'not_sent',
    retryable: false,
    details: { file },
    hint: 'No order is sent until the file is published, is the same as what is published, or is taken away.',
    next: [
      { command: 'errand policy show', when: 'to see what is published' },
      { command: publish, when: 'to have your file hold on every machine' },
    ],
  });

/** The error for a policy that cannot be used. Nothing is ordered, because it is unknown what may be spent. */
const unusable = (
  file: string,
  what: string,
  { hint, cause }: { readonly hint: string; readonly cause?: unknown },
): ErrandError =>
  new ErrandError('policy', `the policy cannot be used: ${what}`, {
    code: 'policy_unusable',
    outcome: 'not_sent',
    retryable: false,
    details: { file },
    hint: `${hint} Until then, no order is sent.`,
    next: [
      { command: 'errand help policy', when: 'to see how a policy is written' },
      { command: 'errand policy show', when: 'to see whether it can be used' },
    ],
    cause,
  });
