import { defineCommand } from '../../cli/define.ts';
import type { ApprovalRequest } from '../../journal/approval-row.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readBytes } from '../../run/read-document.ts';
import {
  largestDocument,
  notApproved,
  readApprovalText,
  saveSigned,
} from '../../spending/approval/carried.ts';
import { shownApproval } from '../../spending/approval/shown.ts';
import { signedBy } from '../../spending/approval/ssh.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Policy } from '../../spending/policy/policy.ts';
import { recordColumns } from './columns.ts';

export const importApproval = defineCommand({
  name: 'import',
  summary: 'Import an ssh-keygen signature, or an approval exported on another machine',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'the signature, or what `approval export` wrote; stdin without it, or with -',
    },
  ],
  examples: [
    { command: 'errand approval import < request.sig', note: 'of a request that was asked for here' },
  ],
  output: { record: 'Approval' },
  exitCodes: { 11: 'no approver signed it, or what was signed is no open request' },
  related: ['approval export', 'help policy'],
  async run(context, { file = '-' }) {
    const policy = await loadPolicy(context);
    if (!policy) throw new UsageError(`nothing needs an approval: ${noPolicy(context)}`);
    const bytes = await readBytes(context, 'file', file, { bytes: largestDocument, holds: 'one approval' });
    const given = readApprovalText(file === '-' ? 'stdin' : file, bytes.toString('utf8'));
    const { signature } = given;
    const request = given.request ?? (await signedRequest(context, policy, signature));
    const approved = await saveSigned(context, policy, { request, signature });
    const approvals = await (await context.journal()).reservations.approvals();
    return {
      kind: 'record',
      record: await shownApproval(context, approvals, approved, policy),
      columns: recordColumns,
      hints: ['run the command that asked for it again'],
    };
  },
});

/** Maximum number of open requests to try. */
const maxTried = 100;

/** Finds the request that a signature approves. The request may already have been approved. */
async function signedRequest(context: Context, policy: Policy, signature: string): Promise<ApprovalRequest> {
  const approvals = await (await context.journal()).reservations.approvals();
  const open = approvals
    .list()
    .filter(
      ({ state, request }) => state !== 'denied' && Date.parse(request.expires_at) > context.clock.now(),
    );
  let problem = 'nothing waits for an approval';
  for (const { request } of open.slice(0, maxTried)) {
    const signed = await signedBy(context, policy, request, signature);
    if (!('problem' in signed)) return request;
    problem = `approval ${request.id} ${signed.problem}`;
  }
  throw notApproved(`the signature approves nothing that was asked for here: ${problem}`);
}
