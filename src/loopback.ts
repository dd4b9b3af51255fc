/** Whether a host, as a URL or a listener names it, is this machine's own and no other reaches it. */
export const isLoopback = (host: string): boolean =>
  /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
