import { fileURLToPath } from 'node:url';

/** Compile cache shared by all program starts in tests. */
export const caches = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
