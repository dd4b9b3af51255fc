import { operations } from '../../../api/operations/index.ts';
import { shopPath } from '../../config.ts';
import type { Link } from './html.ts';

/** The links of pages for those who work with the sandbox. */
export const siteLinks: readonly Link[] = [
  { path: '/', text: 'Console' },
  { path: shopPath, text: 'Shop' },
  { path: operations['openapi.get'].path, text: 'API' },
];
