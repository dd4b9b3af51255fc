import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orderBody } from './order-body.ts';
import { errand, type Finished } from './run.ts';
import type { TestService } from './service.ts';
import type { Workspace } from './workspace.ts';

/** Creates an SSH key pair with ssh-keygen. @returns the private key file. */
export function makeKey({ folder }: Pick<Workspace, 'folder'>, name: string): string {
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
  return file;
}

/** Fingerprint of a key pair, as `ssh-keygen -l` prints it. */
export const fingerprintOf = (file: string): string =>
  execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';

/** A workspace whose policy requires approvals, with test helpers. */
export class ApprovalWorkspace {
  readonly workspace: Workspace;
  readonly service: TestService;

  constructor(workspace: Workspace, service: TestService) {
    this.workspace = workspace;
    this.service = service;
  }

  /** Writes the policy; if keys are given, only they may approve. @returns its file. */
  policy(text = 'approve: { above: $20 }', keys: readonly string[] = []): string {
    const folder = join(this.workspace.folder, '.config');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const key of keys)
      writeFileSync(join(folder, `${key}.pub`), this.text(`${key}.pub`), { mode: 0o600 });
    const approvers = keys.length > 0 ? `approvers: [${keys.map((key) => `${key}.pub`).join(', ')}]\n` : '';
    writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${text}\n${approvers}`, { mode: 0o600 });
    return join(folder, 'policy.yaml');
  }

  text(name: string): string {
    return readFileSync(join(this.workspace.folder, name), 'utf8');
  }

  /** Builds the command for an order with this ceiling, in cents; the $1.00 fee is added to it. */
  order(cents: number, more: object = {}, slug = 'test-success'): string[] {
    const body = { ...orderBody(this.service.product(slug)), max_price: cents, ...more };
    writeFileSync(join(this.workspace.folder, 'order.json'), JSON.stringify(body));
    return ['order', 'create', '--file', 'order.json', '--new', '-o', 'json'];
  }

  run(args: readonly string[], options: { stdin?: string } = {}): Promise<Finished> {
    return errand(this.workspace, args, options);
  }

  create(...given: Parameters<ApprovalWorkspace['order']>): Promise<Finished> {
    return this.run(this.order(...given));
  }

  /** Requests an order and approves it with a key. @returns the approval's id. */
  async approved(key: string, ...given: Parameters<ApprovalWorkspace['order']>): Promise<string> {
    const id = requestIdIn(await this.create(...given));
    const approved = await this.run(['approval', 'approve', id, '--key', key]);
    if (approved.code !== 0) throw new Error(approved.stderr);
    return id;
  }

  async ordersMade(): Promise<number> {
    return (await this.service.send('GET', '/orders')).body.orders.length;
  }
}

export const errorOf = ({ stderr }: Finished) =>
  JSON.parse(stderr.split('\n').find((line) => line.startsWith('{"error"')) ?? '{}').error;

/** The id of the approval requested by a refused command. */
export function requestIdIn(ended: Finished): string {
  const id = errorOf(ended)?.details?.approval?.id;
  if (ended.code !== 11 || typeof id !== 'string')
    throw new Error(`no approval was asked for: exit ${ended.code}, ${ended.stderr}`);
  return id;
}
