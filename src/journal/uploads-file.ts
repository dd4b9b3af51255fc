import { join } from 'node:path';

/** Path of this machine's uploads database. */
export const uploadsFile = (folder: string): string => join(folder, 'uploads.db');
