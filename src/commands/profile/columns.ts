import type { Column } from '../../format/result.ts';

export const profileColumns: readonly Column[] = [
  { name: 'profile', path: 'name', weight: 10 },
  { name: 'current', path: 'current', kind: 'flag', weight: 9 },
  { name: 'service', path: 'base_url', weight: 8 },
  { name: 'key', path: 'api_key', weight: 7 },
  { name: 'legacy service', path: 'legacy_base_url', weight: 3 },
  { name: 'legacy token', path: 'legacy_token', weight: 2 },
  { name: 'policy', path: 'policy', weight: 1 },
  { name: 'database', path: 'database', weight: 4 },
  { name: 'plain http', path: 'allow_plain_http', kind: 'flag', weight: 1 },
];
