import { apiKeyPattern } from '../api/limits.ts';
import { UsageError } from '../platform/errors.ts';
import type { Environment } from './folders.ts';

/** A key as it may be shown: `xx_test_…a1b2`. What has no known form shows nothing but its last four characters. */
export function maskKey(key: string): string {
  const [, prefix, mode, secret = ''] = apiKeyPattern.exec(key) ?? [];
  const tail = (secret || key).length > 12 ? (secret || key).slice(-4) : '';
  return prefix === undefined ? `…${tail}` : `${prefix}_${mode}_…${tail}`;
}

/** Whether a key rehearses or spends; undefined where its form does not tell. */
export function keyMode(key: string): 'test' | 'live' | undefined {
  const mode = apiKeyPattern.exec(key)?.[2];
  return mode === 'test' || mode === 'live' ? mode : undefined;
}

/** Variables that hold what must reach no program but this one. */
const secretVariables: readonly string[] = ['ERRAND_API_KEY', 'ERRAND_LEGACY_TOKEN', 'ERRAND_DATABASE_URL'];

/** The environment for a program that the user has errand run. */
export const withoutKeys = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secretVariables.includes(name)));

/** A key as it goes into a header. @throws UsageError naming where it came from, never showing it. */
export function checkKey(text: string, where: string): string {
  const key = text.trim();
  if (key === '') throw new UsageError(`${where} is empty; it takes a key`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(`${where} holds spaces, line breaks or characters that no key has`);
  }
  return key;
}
