/** `localhost` and the names below it, which are this machine by definition (RFC 6761). */
export const isLocalName = (host: string): boolean => /^(?:.*\.)?localhost\.?$/i.test(host);

/** Whether a host, as a URL or a listener names it, is this machine's own and no other reaches it. */
export const isLoopback = (host: string): boolean =>
  isLocalName(host) || /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** Where to listen for a host: the system's resolver might send a name below `localhost` elsewhere. */
export const listeningAddress = (host: string): string =>
  isLocalName(host) && !/^localhost\.?$/i.test(host) ? '127.0.0.1' : host;
