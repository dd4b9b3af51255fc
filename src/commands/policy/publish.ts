import { resolve } from 'node:path';
import { defineCommand } from '../../cli/define.ts';
import { sha256 } from '../../format/canonical.ts';
import { type PublishedPolicy, policyText } from '../../journal/published-policy.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { signerOf } from '../../spending/approval/approvers.ts';
import { sign } from '../../spending/approval/ssh.ts';
import { signingKey } from '../../spending/options.ts';
import { readFile } from '../../spending/policy/load.ts';
import {
  examinePublished,
  forPolicies,
  nextNumber,
  trustPublisher,
} from '../../spending/policy/published.ts';
import { rulesOf } from '../../spending/policy/rules.ts';

export const publish = defineCommand({
  name: 'publish',
  summary: 'Have a policy hold on every machine that shares the database',
  description:
    'A journal that machines share has one policy, with its time zone and the keys of its approvers, signed with an SSH key. Each machine trusts the first publisher that it sees, and orders nothing under a policy that another key signed until `policy trust` says so. A machine whose own file differs from it orders nothing; one without a file follows it all the same. To end a limit, publish a policy without it.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'the policy; by default the one that this profile follows',
    },
  ],
  options: {
    key: signingKey,
    dryRun: { kind: 'flag', description: 'show what would be published; sign and publish nothing' },
  },
  examples: [
    {
      command: 'errand policy publish policy.yaml --key ~/.ssh/id_ed25519',
      note: 'for all machines, from now on',
    },
    { command: 'errand policy publish policy.yaml --dry-run', note: 'whether it can be, and as what' },
  ],
  output: { record: 'PublishedPolicy' },
  exitCodes: { 11: 'the policy cannot be used, or ssh-keygen did not sign it' },
  related: ['policy show', 'policy trust', 'profile database', 'help policy'],
  async run(context, { file, key, dryRun = false }) {
    const { database, policy } = context.settings;
    if (!database)
      throw new UsageError('no database is named, so there is nowhere to publish a policy', {
        hint: 'On one machine the file itself holds. ERRAND_DATABASE_URL or `errand profile database` names a database.',
      });
    const path = file === undefined ? policy.value : resolve(file);
    if (key === undefined && !dryRun) throw noKey(path);
    const read = await readFile(path);
    const { policies } = (await context.journal()).reservations;
    const replaces = policies.stored()?.stored;
    const { signed: before, problem } = await examinePublished(context);
    const draft: PublishedPolicy = {
      text: read.text,
      keys: read.keys,
      timeZone: read.policy.timeZone,
      by: (await context.origin())().actor,
      at: new Date(context.clock.now()).toISOString(),
      database: policies.databaseId,
      number: nextNumber(context, policies),
    };
    const signed = key === undefined || dryRun ? undefined : await signedWith(context, key, draft);
    const isThere = before && !problem && before.signer === signed?.signer && isSame(before, draft);
    if (signed && !isThere) {
      await policies.publish(draft, signed, replaces);
      trustPublisher(context, { ...draft, signer: signed.signer, hash: sha256(policyText(draft)) });
    }
    const { by, at, number } = isThere ? before : draft;
    const replaced = isThere ? undefined : before;
    const record = {
      file: path,
      sha256: sha256(read.text),
      time_zone: draft.timeZone,
      rules: rulesOf(read.policy).length,
      database: database.shown,
      published_by: by,
      published_at: at,
      number,
      signer: signed?.signer ?? null,
      replaced: replaced
        ? {
            sha256: sha256(replaced.text),
            published_by: replaced.by,
            published_at: replaced.at,
            number: replaced.number,
            signer: replaced.signer,
          }
        : null,
      next: [{ command: 'errand policy show', when: 'to see what holds now' }],
    };
    return {
      kind: 'record',
      record,
      columns: [
        { name: 'policy', path: 'file' },
        { name: 'SHA-256', path: 'sha256' },
        { name: 'rules', path: 'rules', kind: 'count' },
        { name: 'time zone', path: 'time_zone' },
        { name: 'database', path: 'database' },
        { name: 'published by', path: 'published_by' },
        { name: 'published', path: 'published_at', kind: 'time' },
        { name: 'number', path: 'number', kind: 'count' },
        { name: 'signed by', path: 'signer' },
      ],
      id: 'sha256',
      hints: signed
        ? [
            isThere ? 'it was published already' : 'it holds on every machine from now on',
            ...(replaced ? [`in place of the one that ${replaced.by} published on ${replaced.at}`] : []),
            ...(replaced && replaced.signer !== signed.signer
              ? [`${replaced.signer} signed that: other machines order nothing until \`errand policy trust\``]
              : []),
          ]
        : ['nothing was published'],
    };
  },
});

async function signedWith(
  context: Context,
  key: string,
  draft: PublishedPolicy,
): Promise<{ readonly signature: string; readonly signer: string }> {
  const signature = await sign(context, forPolicies, key, policyText(draft));
  return { signature, signer: signerOf(signature) ?? '' };
}

const isSame = (one: PublishedPolicy, other: PublishedPolicy): boolean =>
  one.text === other.text && JSON.stringify(one.keys) === JSON.stringify(other.keys);

const noKey = (file: string): UsageError =>
  new UsageError('a published policy is signed with an SSH key: give --key', {
    next: [
      {
        command: `${shellLine`errand policy publish ${file}`} --key ~/.ssh/id_ed25519`,
        when: 'with your key',
      },
    ],
  });
