import { UsageError } from '../../platform/errors.ts';

/** Who reaches a served sandbox, and whom it calls. */
export const reachOptions = {
  allowExternalWebhooks: {
    kind: 'flag',
    description: 'send webhooks to addresses that are not loopback',
  },
  allowWebhook: {
    kind: 'texts',
    placeholder: 'host[:port]',
    description: 'send webhooks to this receiver, wherever it is; may be repeated',
  },
  allowRemote: {
    kind: 'flag',
    description:
      'allow an address that other machines can reach; webhooks to this machine then need --allow-webhook',
  },
  allowHost: {
    kind: 'texts',
    placeholder: 'name[:port]',
    description: 'serve this name too (default: localhost, and the address itself); may be repeated',
  },
} as const;

interface ReachFlags {
  readonly allowRemote?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly allowWebhook?: readonly string[] | undefined;
  readonly allowExternalWebhooks?: boolean | undefined;
}

/**
 * The same as the sandbox takes it. Where other machines reach it, none of them may make it call this one.
 * @throws UsageError naming the flag.
 */
export function reachOf({
  allowRemote = false,
  allowHost = [],
  allowWebhook = [],
  allowExternalWebhooks = false,
}: ReachFlags) {
  return {
    allowedHosts: allowHost.map((name) => hostName('--allow-host', name)),
    webhooks: {
      loopback: !allowRemote,
      external: allowExternalWebhooks,
      named: allowWebhook.map((name) => hostName('--allow-webhook', name)),
    },
  };
}

/** A host as URLs write it. @throws UsageError naming the flag for what is none. */
function hostName(flag: string, given: string): string {
  const address = `http://${given}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && url.host !== '' && url.href === `http://${url.host}/` && !/[/\\?#@]/.test(given))
    return url.host;
  throw new UsageError(`${flag} "${given}" is not a host; write NAME or NAME:PORT, such as api.test:4848`);
}
