import { byUndici } from './caller.ts';

// Whoever carries a request, what becomes of it is told alike.
byUndici();
await import('./failures.test.ts');
await import('./redirects.test.ts');
await import('./requests.test.ts');
await import('./retrying.test.ts');
