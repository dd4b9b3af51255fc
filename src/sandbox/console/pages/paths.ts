/** Where the pages for people are; no part of the service, so its table does not know them. */
export const devicePath = '/device';
export const claimPath = '/claim';
export const consolePath = '/console';
