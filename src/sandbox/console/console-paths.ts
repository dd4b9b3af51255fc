import { consolePath } from '../config.ts';
import { sections } from './sections.ts';

export const keysPath = sections.keys.path;

/** The wallet of a user. */
export const walletPath = (userId: string): string => `${consolePath}/wallets/${userId}`;

/** The clock, and the states that are kept. */
export const timePath = sections.time.path;
export const faultsPath = sections.faults.path;
