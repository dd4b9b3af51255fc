import { fileURLToPath } from 'node:url';

/** Where every start of the program in a test keeps compiled code: what one has compiled, the next need not. */
export const caches = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
