import { findOperation, isPlainPath, isRead } from '../../../api/operations/find.ts';
import { shellLine, shellWord, typedCommand } from '../../../platform/shell.ts';
import type { SandboxConfig } from '../../config.ts';
import type { SameAs } from './copied.ts';

interface Shown {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** JSON, or the file that it is in. */
  readonly body?: string | { readonly file: string };
  /** Whether it is sent with a key; as a rule it is. */
  readonly hasKey?: boolean;
}

/** A request to this server as `errand api` and as curl, for a POSIX shell. The key is the reader's own. */
export function sameRequest(
  { baseUrl }: Pick<SandboxConfig, 'baseUrl'>,
  { method, target, body, hasKey = true }: Shown,
): Omit<SameAs, 'json'> {
  const path = sendable(target);
  const given = typeof body === 'string' ? shellWord(plainJson(body)) : body && `@${body.file}`;
  const curl = [
    method === 'GET' ? 'curl -s' : shellLine`curl -sX ${method}`,
    shellWord(baseUrl + path),
    ...(hasKey ? ['-H "Authorization: Bearer $ERRAND_API_KEY"'] : []),
    ...(given === undefined ? [] : [`-H 'Content-Type: application/json' -d ${given}`]),
  ];
  const [bare = ''] = path.split('?', 1);
  const isKnown = isRead(method) || findOperation(method, bare) !== undefined;
  // `errand api` sends no such request.
  if (!isKnown && !isPlainPath(bare)) return { curl: curl.join(' ') };
  const option = isKnown ? [] : ['--unknown-path'];
  const errand = typedCommand(['api', method, path, ...option, '--base-url', baseUrl]);
  return {
    curl: curl.join(' '),
    errand:
      typeof body === 'object'
        ? `${errand} --input ${body.file}`
        : given === undefined
          ? errand
          : `printf '%s' ${given} | ${errand} --input -`,
  };
}

/** As a request line takes it: nothing of it is a control of a terminal, or a space. */
const sendable = (target: string): string =>
  encodeURI(target.toWellFormed())
    .replaceAll('%25', '%')
    .replace(/[[\]#^|]/g, encodeURIComponent);

/** JSON whose controls and marks of direction are escaped: in JSON they stand in texts alone. */
const plainJson = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
