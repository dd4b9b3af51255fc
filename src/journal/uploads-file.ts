import { join } from 'node:path';

/** Where the uploads of this machine are kept. */
export const uploadsFile = (folder: string): string => join(folder, 'uploads.db');
