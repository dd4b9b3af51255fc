import { operations } from '../../contract/operations/index.ts';
import { shopPath } from '../config.ts';
import type { Link } from './html.ts';

/** Where the pages of whoever works with the sandbox lead to. */
export const siteLinks: readonly Link[] = [
  { path: '/', text: 'Console' },
  { path: shopPath, text: 'Shop' },
  { path: operations['openapi.get'].path, text: 'API' },
];
