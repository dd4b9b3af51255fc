import { textIn } from '../../api/json.ts';
import { tableFlags } from '../../bulk/csv/table-options.ts';
import { changeOf, uploadFlags } from '../../bulk/plan/again.ts';
import {
  type KnownUpload,
  knownUpload,
  namedBatches,
  unknownName,
  unsentIn,
} from '../../bulk/upload/named.ts';
import { maxTotalOption } from '../../bulk/upload/prepare.ts';
import { settleOpen } from '../../bulk/upload/settle-open.ts';
import { sourceOf, type UploadSource } from '../../bulk/upload/source.ts';
import { defineCommand } from '../../cli/define.ts';
import { ErrandError, type NextStep, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { policyExit, policyOptions } from '../../spending/options.ts';
import { distributeFile, placeFile, sentOutput } from './place-file.ts';
import { applyPlan } from './place-plan.ts';
import { followResult } from './watch.ts';

export const resume = defineCommand({
  name: 'resume',
  summary: 'Go on with an upload that was cut short',
  description:
    'Reads its file or its plan again, the way it was read then, and sends what the service does not have yet; what is in doubt is settled first. Nothing is placed twice. A file that has changed since is refused.',
  arguments: [{ name: 'name', completes: 'uploads', description: 'the upload', required: true }],
  options: {
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...maxTotalOption,
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow its batches to their end' },
  },
  examples: [
    { command: 'errand bulk resume december', note: 'after a crash, from any terminal' },
    { command: 'errand bulk resume december --watch', note: 'and followed to the end' },
  ],
  output: [...sentOutput, { nothing: true, when: 'where all is sent' }],
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    5: 'its file has changed, or is no longer there',
    7: 'a row is invalid and nothing was sent; with --watch: a row failed',
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `${policyExit}; or the orders may cost more than --max-total`,
  },
  related: ['bulk uploads', 'bulk upload', 'bulk watch', 'order journal resume'],
  async run(context, { name, ...consent }) {
    const upload = await knownUpload(context, name);
    if (!upload) throw await unknownName(context, name);
    if (unsentIn(upload) === 0) {
      const { facts } = await settleOpen(context, name);
      const lines = facts.length > 0 ? facts : [`all of ${name} is at the service; nothing was sent`];
      if (consent.watch) {
        for (const fact of lines) context.note(fact);
        return followResult(context, await namedBatches(context, [name]));
      }
      const follow = `follow: errand bulk watch ${shellWord(name)}${whereFlags(context)}`;
      return { kind: 'none', hints: [...lines, follow] };
    }
    const plan = textIn(upload.source, 'plan');
    if (plan !== undefined) return applyPlan(context, plan, consent);
    const source = sourceOf(upload.source);
    const {
      path,
      sha256,
      table,
      run,
      batchSize,
      skipInvalid,
      skipDuplicates,
      again,
      notifies,
      shard,
      isShared,
    } = source;
    if (isShared) return distributeFile(context, undefined, { name, ...consent });
    if (path === null) throw piped(context, upload, source);
    const problem = await changeOf(path, sha256, 'uploaded');
    if (problem !== undefined) throw moved(context, upload, source, problem);
    return placeFile(context, path, {
      ...table,
      ...{ name, run, batchSize, skipInvalid, skipDuplicates, again, notifyOnComplete: notifies, shard },
      ...consent,
    });
  },
});

const piped = (context: Context, upload: KnownUpload, source: UploadSource): UsageError =>
  new UsageError(`${upload.name} came through a pipe: send the same CSV through it again`, {
    next: [again(context, '-', source, 'with the CSV on stdin')],
  });

const moved = (context: Context, { name }: KnownUpload, source: UploadSource, problem: string): ErrandError =>
  new ErrandError('conflict', `${source.path} ${problem}; nothing was sent`, {
    outcome: 'not_sent',
    hint: `Put the file back as it was. Uploaded as it is now, it is another upload: rows that are the same in both are placed once, and ${name} stays as it is.`,
    next: [again(context, source.path ?? '-', source, 'to upload it as it is now')],
  });

/** Suggests the command that uploads the same file again with the same options. */
const again = (context: Context, file: string, source: UploadSource, when: string): NextStep => ({
  command: `errand bulk upload ${shellWord(file)}${tableFlags(source.table)}${uploadFlags(source)}${whereFlags(context)}`,
  when,
});
