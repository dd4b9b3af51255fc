import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { defineCommand } from '../../cli/define.ts';
import type { PublishedPolicy } from '../../journal/published-policy.ts';
import { UsageError } from '../../platform/errors.ts';
import { readFile } from '../../spending/policy/load.ts';
import { rulesOf } from '../../spending/policy/rules.ts';

export const publish = defineCommand({
  name: 'publish',
  summary: 'Have a policy hold on every machine that shares the database',
  description:
    'A journal that machines share has one policy, with its time zone and the keys of its approvers. A machine whose own file differs from it orders nothing; one without a file follows it all the same. To end a limit, publish a policy without it.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'the policy; by default the one that this profile follows',
    },
  ],
  examples: [{ command: 'errand policy publish policy.yaml', note: 'for all machines, from now on' }],
  output: { record: 'PublishedPolicy' },
  exitCodes: { 11: 'the policy cannot be used' },
  related: ['policy show', 'profile database', 'help policy'],
  async run(context, { file }) {
    const { database, policy } = context.settings;
    if (!database)
      throw new UsageError('no database is named, so there is nowhere to publish a policy', {
        hint: 'On one machine the file itself holds. ERRAND_DATABASE_URL or `errand profile database` names a database.',
      });
    const path = file === undefined ? policy.value : resolve(file);
    const read = await readFile(path);
    const { policies } = (await context.journal()).reservations;
    const before = policies.current();
    const isThere = before !== undefined && before.text === read.text && sameKeys(before, read.keys);
    const by = (await context.origin())().actor;
    const made = { text: read.text, keys: read.keys, timeZone: read.policy.timeZone, by };
    const replaced = isThere ? undefined : await policies.publish(made);
    const published = policies.current() ?? before;
    const record = {
      file: path,
      sha256: sha256(read.text),
      time_zone: read.policy.timeZone,
      rules: rulesOf(read.policy).length,
      database: database.shown,
      published_by: published?.by ?? by,
      published_at: published?.at ?? '',
      replaced: replaced
        ? { sha256: sha256(replaced.text), published_by: replaced.by, published_at: replaced.at }
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
      ],
      id: 'sha256',
      hints: [
        isThere ? 'it was published already' : 'it holds on every machine from now on',
        ...(replaced ? [`in place of the one that ${replaced.by} published on ${replaced.at}`] : []),
      ],
    };
  },
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const sameKeys = ({ keys }: PublishedPolicy, others: Readonly<Record<string, string>>): boolean =>
  JSON.stringify(keys) === JSON.stringify(others);
