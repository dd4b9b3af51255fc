import { afterAll } from 'vitest';
import { stopRunners } from './runner.ts';

// No file leaves a process to the next.
afterAll(stopRunners);
