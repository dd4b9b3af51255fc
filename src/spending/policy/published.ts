import { sha256 } from '../../format/canonical.ts';
import type {
  LastPublication,
  PublishedPolicies,
  PublishedPolicy,
  StoredPolicy,
} from '../../journal/published-policy.ts';
import { ErrandError, type ErrorFacts, type NextStep } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Purpose } from '../approval/ssh.ts';
import { type Pin, readPin, writePin } from './pin.ts';

export type PolicyContext = Pick<
  OrderContext,
  'settings' | 'journal' | 'signal' | 'environment' | 'interactive' | 'previewsRequests' | 'note'
>;

/** A published policy whose signature is valid. */
export interface SignedPolicy extends PublishedPolicy {
  /** Fingerprint of the publisher's key. */
  readonly signer: string;
  /** SHA-256 of the signed text. */
  readonly hash: string;
}

/**
 * The policy published in the database if it is authentic, and the problem if this machine does not follow it. Either
 * may be missing.
 */
export interface Examined {
  /** Set if it is authentic. */
  readonly signed?: SignedPolicy;
  readonly problem?: ErrandError | undefined;
}

/**
 * Reads the published policy that this machine follows. Undefined if none was ever published. Always use this function
 * or `examinePublished` for this, because a database row alone proves nothing. At a terminal, the first publisher that
 * the machine sees becomes the one that it trusts.
 * @throws ErrandError policy if the policy is not authentic, or its publisher is not trusted here. Nothing is ordered
 * then.
 */
export async function publishedPolicy(context: PolicyContext): Promise<SignedPolicy | undefined> {
  const { settings, interactive, previewsRequests, note } = context;
  if (!settings.database) return undefined;
  const { policies } = (await context.journal()).reservations;
  const stored = policies.stored();
  const { signed, problem } = await examine(context, policies, stored);
  if (problem && !(signed && isFirstSight(problem) && interactive.yes)) throw problem;
  if (signed && settings.policySigner === undefined && !previewsRequests) {
    const pin = readPin(settings);
    if (!pin) note(`${signed.signer} signed ${nameOf(context)}; this machine trusts that key from now on`);
    if (!pin || signed.number > pin.number) writePin(settings, pinOf(signed));
  }
  policies.follow(stored?.stored);
  return signed;
}

/**
 * Like `publishedPolicy`, but returns the problem instead of throwing it, and never starts to trust a publisher.
 * @throws ErrandError if the journal cannot be read.
 */
export async function examinePublished(context: PolicyContext): Promise<Examined> {
  if (!context.settings.database) return {};
  const { policies } = (await context.journal()).reservations;
  return examine(context, policies, policies.stored());
}

async function examine(
  context: PolicyContext,
  policies: PublishedPolicies,
  stored: StoredPolicy | undefined,
): Promise<Examined> {
  const { settings } = context;
  let signed: SignedPolicy | undefined;
  try {
    const last = policies.lastPublication();
    if (!stored) {
      const pin = settings.policySigner === undefined ? readPin(settings) : undefined;
      return settings.policySigner === undefined && !pin && !last
        ? {}
        : { problem: gone(context, pin, last) };
    }
    signed = await authentic(context, policies, stored, last);
    return { signed, problem: distrusted(context, signed) };
  } catch (problem) {
    if (problem instanceof ErrandError && problem.category === 'policy')
      return { ...(signed && { signed }), problem };
    throw problem;
  }
}

/** Rows that were verified, with their signers. They are stored per instance, because a row belongs to one database. */
const verified = new WeakMap<PublishedPolicies, { readonly stored: string; readonly signer: string }>();

/**
 * Checks that a row is the latest policy that its signer published in this database.
 * @throws ErrandError policy if it is not.
 */
async function authentic(
  context: PolicyContext,
  policies: PublishedPolicies,
  row: StoredPolicy,
  last: LastPublication | undefined,
): Promise<SignedPolicy> {
  const name = nameOf(context);
  if (row.kind === 'damaged')
    throw refused(`${name} is not what errand wrote: somebody changed it`, { code: 'policy_altered' });
  if (row.kind === 'unsigned')
    throw refused(
      `${name} is not signed: an earlier errand published it (as ${row.by}, ${row.at}), or somebody changed it`,
      { code: 'policy_unsigned' },
    );
  const { policy, signature, text } = row;
  const known = verified.get(policies);
  const signer =
    known?.stored === row.stored ? known.signer : await signerOfText(context, name, { text, signature });
  verified.set(policies, { stored: row.stored, signer });
  if (policy.database !== policies.databaseId)
    throw refused(`${name} was signed by ${signer} for another database: somebody copied it from there`, {
      code: 'policy_elsewhere',
    });
  if (last?.number !== policy.number || last.policy !== sha256(policy.text) || last.signer !== signer)
    throw rolledBack(context, policy.number, `the audit chain has ${lastOf(last)} as the last`);
  return { ...policy, signer, hash: sha256(text) };
}

/**
 * @returns the fingerprint of the key.
 * @throws ErrandError policy if the signature is not valid.
 */
async function signerOfText(
  context: PolicyContext,
  name: string,
  signed: { readonly text: string; readonly signature: string },
): Promise<string> {
  const { signingKeyOf } = await import('../approval/approvers.ts');
  const { verify } = await import('../approval/ssh.ts');
  const key = signingKeyOf(signed.signature);
  if (!key) throw refused(`${name} has a signature that ssh-keygen did not make`, { code: 'policy_altered' });
  if (await verify(context, forPolicies, [key], signed)) return key.fingerprint;
  throw refused(
    `${name} has a signature by ${key.fingerprint} that does not hold: it was changed, or something else was signed`,
    { code: 'policy_altered' },
  );
}

/**
 * Why this machine does not follow an authentic policy. Undefined if it does follow the policy.
 * @throws ErrandError policy.
 */
function distrusted(context: PolicyContext, signed: SignedPolicy): ErrandError | undefined {
  const { policySigner } = context.settings;
  const pin = readPin(context.settings);
  const name = nameOf(context);
  const trusted = policySigner?.value ?? pin?.signer;
  if (trusted === undefined)
    return refused(`${name} is signed by ${signed.signer}, and this machine trusts no publisher`, {
      code: 'policy_signer_unknown',
      hint: `Compare the fingerprint with the publisher's. A machine that is new for each job sets ERRAND_POLICY_SIGNER=${signed.signer}.`,
      next: [trustStep(signed)],
    });
  if (trusted !== signed.signer && policySigner !== undefined)
    return refused(`${name} is signed by ${signed.signer}, and ${policySigner.name} names ${trusted}`, {
      code: 'policy_signer_differs',
      hint: `No order is sent until that key signs it again, or ${policySigner.name} names the other one.`,
    });
  if (trusted !== signed.signer)
    return refused(`${name} is signed by ${signed.signer}, and this machine trusts ${trusted}`, {
      code: 'policy_signer_differs',
      hint: 'No order is sent until that key signs it again, or the other one is trusted here. Compare its fingerprint with the publisher first.',
      next: [trustStep(signed)],
    });
  if (pin?.signer !== signed.signer) return undefined;
  if (pin.database !== signed.database)
    return refused(`${name} is of another database than this machine has seen there`, {
      code: 'policy_elsewhere',
      hint: 'No order is sent until its publisher is trusted anew. Do that only if you know that the database was made anew.',
      next: [trustStep(signed)],
    });
  if (signed.number > pin.number || signed.hash === pin.policy) return undefined;
  return rolledBack(context, signed.number, `this machine has seen number ${pin.number}`, {
    hint: 'No order is sent until it is published again. If the database was brought back on purpose, trust its publisher anew.',
    next: [publishStep, trustStep(signed)],
  });
}

/** Whether the only problem is that this machine does not trust any publisher yet. */
export const isFirstSight = ({ facts }: ErrandError): boolean => facts.code === 'policy_signer_unknown';

/** The error for a published policy that is no longer in the database. */
function gone(context: PolicyContext, pin: Pin | undefined, last: LastPublication | undefined): ErrandError {
  const { policySigner, database } = context.settings;
  const seen = pin
    ? `this machine has seen number ${pin.number}, signed by ${pin.signer}`
    : policySigner !== undefined
      ? `${policySigner.name} names ${policySigner.value}`
      : `the audit chain has ${lastOf(last)}`;
  const isAnew = pin !== undefined && last === undefined;
  return refused(`no policy is published in ${database?.shown}, and ${seen}`, {
    code: 'policy_gone',
    hint: 'No order is sent until it is published again. To order without limits, publish a policy without them.',
    next: [
      publishStep,
      ...(isAnew
        ? [{ command: 'errand policy trust none', when: 'if the database was made anew on purpose' }]
        : []),
    ],
  });
}

const lastOf = (last: LastPublication | undefined): string =>
  last ? (last.number === undefined ? 'an unsigned one' : `number ${last.number}`) : 'none';

const rolledBack = (
  context: PolicyContext,
  number: number,
  seen: string,
  facts: Pick<ErrorFacts, 'hint' | 'next'> = {},
): ErrandError =>
  refused(`${nameOf(context)} is number ${number}, and ${seen}: somebody put it there in place of that`, {
    code: 'policy_rolled_back',
    ...facts,
  });

const publishStep: NextStep = {
  command: 'errand policy publish policy.yaml --key ~/.ssh/id_ed25519',
  when: 'on a machine that has its file, with the key of its publisher',
};

/** The error for a published policy that is not followed. */
function refused(message: string, facts: Pick<ErrorFacts, 'code' | 'hint' | 'next'>): ErrandError {
  return new ErrandError('policy', message, {
    hint: 'No order is sent until it is published again.',
    next: facts.hint === undefined ? [publishStep] : [],
    ...facts,
    outcome: 'not_sent',
    retryable: false,
  });
}

const trustStep = ({ signer }: SignedPolicy): NextStep => ({
  command: `errand policy trust ${signer}`,
  when: 'if that is the key of your publisher',
});

/** The number for the next publication. It is greater than every number that this machine or the database knows. */
export function nextNumber({ settings }: PolicyContext, policies: PublishedPolicies): number {
  const pin = readPin(settings);
  const stored = policies.stored();
  const known = [
    stored?.kind === 'signed' ? stored.policy.number : 0,
    policies.lastPublication()?.number ?? 0,
  ].filter((number) => number < highestNumber);
  return 1 + Math.max(0, pin?.number ?? 0, ...known);
}

/** A genuine number is below this limit. A number above it would leave no room for the next publication. */
const highestNumber = 1e12;

/** Trusts the publisher of a policy on this machine. @throws StorageError. */
export const trustPublisher = ({ settings }: PolicyContext, signed: SignedPolicy): void =>
  writePin(settings, pinOf(signed));

export const pinOf = ({ signer, database, number, hash: policy }: SignedPolicy): Pin => ({
  signer,
  database,
  number,
  policy,
});

/** The purpose of a publisher's signature. */
export const forPolicies: Purpose = {
  namespace: 'errand-policy',
  unsigned: 'nothing was published',
  code: 'policy_not_signed',
};

const nameOf = ({ settings }: PolicyContext): string =>
  `the policy published in ${settings.database?.shown ?? 'the database'}`;
