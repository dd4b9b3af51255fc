import { defineCommand } from '../../cli/define.ts';
import { checkFingerprint } from '../../config/resolve.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type Pin, readPin, writePin } from '../../spending/policy/pin.ts';
import { examinePublished, pinOf, type SignedPolicy } from '../../spending/policy/published.ts';

export const trust = defineCommand({
  name: 'trust',
  summary: "Follow a publisher's policies on this machine from now on",
  description:
    'Each machine trusts one SSH key for the policy of a database: the first that it sees at a terminal. Another key, or an older policy of the same key, stops its orders until this command. Shows who is trusted and who signed what is published, and asks; a script names the fingerprint. Compare it with the publisher first. A machine that is new for each job sets ERRAND_POLICY_SIGNER instead, which goes before what is trusted here.',
  arguments: [
    {
      name: 'fingerprint',
      description:
        'of the key that signed what is published, as `policy show` and ssh-keygen -lf print it; or none, to trust nobody',
    },
  ],
  options: {
    dryRun: { kind: 'flag', description: 'show who would be trusted; change nothing' },
  },
  examples: [
    { command: 'errand policy trust', note: 'shows the keys, and asks' },
    { command: 'errand policy trust $SIGNER', note: 'for a script' },
    { command: 'errand policy trust none --dry-run', note: 'whom this machine would no longer trust' },
  ],
  output: { record: 'PolicyTrust' },
  exitCodes: { 11: 'what is published is not signed, or by another key; nothing was changed' },
  related: ['policy show', 'policy publish', 'help policy'],
  async run(context, { fingerprint, dryRun = false }) {
    const { database } = context.settings;
    if (!database)
      throw new UsageError('no database is named, so no policy is published to this machine', {
        hint: 'ERRAND_DATABASE_URL or `errand profile database` names a database.',
      });
    const before = pinBefore(context);
    const wanted =
      fingerprint === undefined || fingerprint === 'none'
        ? fingerprint
        : checkFingerprint(fingerprint, 'policy trust');
    const signed = wanted === 'none' ? undefined : await authentic(context, wanted);
    const pin = signed && pinOf(signed);
    const isSame = JSON.stringify(pin) === JSON.stringify(before);
    if (!isSame && !dryRun) {
      if (wanted === undefined) await confirm(context, before, signed);
      writePin(context.settings, pin);
    }
    return {
      kind: 'record',
      record: {
        database: database.shown,
        signer: pin?.signer ?? null,
        number: pin?.number ?? null,
        published_by: signed?.by ?? null,
        published_at: signed?.at ?? null,
        replaced: before && !isSame ? { signer: before.signer, number: before.number } : null,
        next: [{ command: 'errand policy show', when: 'to see what holds now' }],
      },
      columns: [
        { name: 'database', path: 'database' },
        { name: 'trusted', path: 'signer' },
        { name: 'number', path: 'number', kind: 'count' },
        { name: 'published by', path: 'published_by' },
        { name: 'published', path: 'published_at', kind: 'time' },
        { name: 'before', path: 'replaced.signer' },
        { name: 'number before', path: 'replaced.number', kind: 'count' },
      ],
      id: 'signer',
      hints: [
        dryRun
          ? 'nothing was changed'
          : isSame
            ? 'it was so already'
            : signed
              ? 'this machine follows what that key signs'
              : 'this machine trusts no publisher',
        ...(context.settings.policySigner
          ? [`${context.settings.policySigner.name} is set and goes before it`]
          : []),
      ],
    };
  },
});

/**
 * The publisher that this machine has trusted so far. If the file is unreadable, there is none, because this command
 * replaces the file.
 */
function pinBefore(context: Context): Pin | undefined {
  try {
    return readPin(context.settings);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.category !== 'policy') throw error;
    context.note(`warning: ${error.message}`);
    return undefined;
  }
}

/**
 * Returns the published policy, which must be authentic.
 * @param wanted is the fingerprint of the key that must have signed the policy, if one was given.
 * @throws ErrandError policy.
 */
async function authentic(context: Context, wanted: string | undefined): Promise<SignedPolicy> {
  const { signed, problem } = await examinePublished(context);
  if (!signed)
    throw problem ?? new UsageError(`no policy is published in ${context.settings.database?.shown}`);
  if (wanted === undefined || wanted === signed.signer) return signed;
  throw new ErrandError(
    'policy',
    `the policy published there is signed by ${signed.signer}, not by ${wanted}; nothing was changed`,
    {
      code: 'policy_signer_differs',
      outcome: 'not_sent',
      retryable: false,
      next: [{ command: 'errand policy show', when: 'to see what is published' }],
    },
  );
}

/**
 * Asks the user to confirm.
 * @throws UsageError if nobody can be asked; ErrandError policy if the user declines.
 */
async function confirm(
  context: Context,
  before: Pin | undefined,
  signed: SignedPolicy | undefined,
): Promise<void> {
  if (!signed) return;
  if (!context.interactive.yes)
    throw new UsageError(`name the fingerprint to trust; cannot prompt, as ${context.interactive.why}`, {
      next: [
        {
          command: `errand policy trust ${signed.signer}`,
          when: 'if that is the key of your publisher',
        },
      ],
    });
  context.note(
    before
      ? `trusted until now: ${before.signer}, last seen as number ${before.number}`
      : 'until now this machine trusts no publisher',
  );
  context.note(
    `published: number ${signed.number}, by ${signed.by} on ${signed.at}, signed by ${signed.signer}`,
  );
  if (await context.confirm('Is that the key of your publisher, and is its policy to hold here?')) return;
  throw new ErrandError('policy', 'nothing was changed', {
    code: 'policy_not_trusted',
    outcome: 'not_sent',
    retryable: false,
  });
}
