import { consolePath } from '../paths.ts';

export const keysPath = `${consolePath}/keys`;

/** The wallet of a user. */
export const walletPath = (userId: string): string => `${consolePath}/wallets/${userId}`;
