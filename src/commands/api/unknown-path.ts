import { isPlainPath, isRead } from '../../api/operations/find.ts';
import type { Target } from '../../http/request-target.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { loadPolicy } from '../../spending/policy/load.ts';

/**
 * A write goes to the path that its operation has, and nowhere else: a gateway may read another spelling as the path that
 * makes an order, past the journal and the policy. Whether a read comes back changes nothing, so any path is read.
 * @throws UsageError for a write that is none of the service, unless `allowed`; ErrandError policy where there is a policy.
 */
export async function checkWrite(
  context: Context,
  { method, path: given, surface, operation }: Target,
  allowed: boolean,
): Promise<void> {
  if (isRead(method)) return;
  const { baseUrl, legacyBaseUrl } = context.settings;
  const base = surface === 'legacy' ? legacyBaseUrl.value : baseUrl.value;
  if (!/^(?:\/[\w.~-]+)*\/*$/.test(new URL(base).pathname))
    throw new UsageError(`the path of the base URL ${base} is not plain: ${plainRule}`);
  if (operation) return;
  const [path = ''] = given.split('?', 1);
  const unknown = `${method} ${path} is no operation of the service`;
  const policy = await loadPolicy(context);
  if (policy) {
    throw new ErrandError('policy', `${unknown}, and a policy holds (${policy.file}); nothing was sent`, {
      code: 'unknown_path',
      outcome: 'not_sent',
      retryable: false,
      hint: 'No policy can judge such a request, so it is not sent where there is one, not even with --unknown-path.',
      next: steps,
    });
  }
  if (!isPlainPath(path))
    throw new UsageError(`${unknown}, and not a plain path: ${plainRule}`, { next: steps });
  if (allowed) return;
  throw new UsageError(`${unknown}, so neither the journal nor an audit sees what it does`, {
    hint: 'If it cannot place an order, add --unknown-path.',
    next: steps,
  });
}

const plainRule = 'a write takes letters, digits, "-", "_" and "~" between single slashes';

const steps = [{ command: 'errand schema operations', when: 'to see what there is' }];
