import { controlPath } from '../../../api/control.ts';
import { listIn, own } from '../../../api/json.ts';
import { contractVersion } from '../../../api/version.ts';
import { keyMode, maskKey } from '../../../config/keys.ts';
import type { Setting } from '../../../config/resolve.ts';
import { embeddedUrl, localProfile } from '../../../config/stored.ts';
import { ErrandError } from '../../../platform/errors.ts';
import { isLoopback } from '../../../platform/net/lookup.ts';
import type { Context } from '../../../run/context.ts';
import { type Check, type Finding, info, ok, problem, problemOf, skipped } from '../check.ts';

/** Response time above which users notice the wait, in ms. */
const slowMs = 2000;

export const service: Check = {
  name: 'service',
  async run({ context, probe }) {
    const { settings } = context;
    const { value, name, from } = settings.baseUrl;
    const found = await probe();
    if (!found.reached) {
      const where = from === 'profile' || from === 'default' ? `profile ${settings.profile.value}` : name;
      return problem(
        `${found.message} (the base URL is set by ${where})`,
        found.remedy ??
          'Look at the base URL, the network and the proxy; errand auth status shows what is set where.',
      );
    }
    const speed =
      found.durationMs <= slowMs
        ? ok(`${value} responds in ${found.durationMs} ms`)
        : problem(
            `${value} is slow: it responded in ${(found.durationMs / 1000).toFixed(1)} s`,
            'Give it time with --timeout 60s, or look at the network and the proxy.',
          );
    const stuck = await stuckIn(context);
    return stuck.length === 0 ? speed : [speed, cannotGoOn(stuck)];
  },
};

const maxNamed = 3;

const cannotGoOn = (ids: readonly string[]): Finding => {
  const more = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : '';
  return problem(
    `the sandbox cannot bring ${ids.slice(0, maxNamed).join(', ')}${more} about: a newer errand may have written them`,
    'Update errand; they are tried again each hour of the sandbox (`errand sandbox advance 1h`).',
  );
};

/** Ids of the stuck records in the selected sandbox; empty for any other service. */
async function stuckIn(context: Context): Promise<readonly string[]> {
  const { value } = context.settings.baseUrl;
  if (value !== embeddedUrl && !isLoopback(new URL(value).hostname)) return [];
  try {
    const client = await context.client();
    const response = await client.raw({ method: 'GET', path: controlPath, isKeyless: true });
    const state = 'json' in response ? response.json : undefined;
    if (own(state, 'sandbox') !== 'errand') return [];
    return listIn(state, 'stuck').filter((id) => typeof id === 'string');
  } catch (error) {
    // The service is not a sandbox, or it does not disclose its state to this user.
    if (error instanceof ErrandError) return [];
    throw error;
  }
}

export const tls: Check = {
  name: 'tls',
  run: ({ context }) =>
    context.settings.tlsChecksOff
      ? problem(
          'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off: anyone on the way can read the key',
          'Unset it; for a certificate of your own, name its file in NODE_EXTRA_CA_CERTS.',
        )
      : ok('certificates are checked'),
};

const timeoutMs = 5000;

export const proxy: Check = {
  name: 'proxy',
  async run({ context: { settings } }) {
    const { baseUrl, proxy: proxies } = settings;
    if (baseUrl.value === embeddedUrl) return info('the embedded sandbox is reached without the network');
    const { tryProxy } = await import('../../../http/proxy.ts');
    try {
      const tried = await tryProxy(new URL(baseUrl.value), proxies, timeoutMs);
      const exempt = proxies.none ? `; NO_PROXY is ${proxies.none}` : '';
      if (!tried) return ok(`requests to ${baseUrl.value} go through no proxy${exempt}`);
      if (!tried.problem) return ok(`the proxy ${tried.proxy} takes connections${exempt}`);
      return problem(
        `the proxy ${tried.proxy} cannot be reached: ${tried.problem}`,
        `Correct or unset HTTPS_PROXY or HTTP_PROXY; or go round it: NO_PROXY=${new URL(baseUrl.value).hostname}`,
      );
    } catch (error) {
      return problemOf(error);
    }
  },
};

/** Tolerated clock skew, in ms. A date header has one-second resolution, and the response takes time. */
const allowedMs = 30_000;

export const clock: Check = {
  name: 'clock',
  async run({ probe }) {
    const found = await probe();
    if (!found.reached) return skipped('the service cannot be reached, so its clock is unknown');
    const theirs = found.date === undefined ? Number.NaN : Date.parse(found.date);
    if (Number.isNaN(theirs)) return info('the service sends no clock header');
    // The service wrote the header at some time between request and response, so assume the midpoint.
    const skew = found.at - found.durationMs / 2 - theirs;
    if (Math.abs(skew) <= allowedMs) return ok('the clock of this machine agrees with that of the service');
    const seconds = Math.round(Math.abs(skew) / 1000);
    return problem(
      `this machine's clock is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service's`,
      'Set it by the network (timedatectl set-ntp true; or the date settings of the system). A sandbox that was advanced differs on purpose.',
    );
  },
};

export const contract: Check = {
  name: 'contract',
  async run({ probe }) {
    const found = await probe();
    if (!found.reached) return skipped('the service cannot be reached, so its description is unknown');
    if (found.version === undefined) return info('the service gives no description of itself');
    if (found.version === contractVersion)
      return ok(`the service is of version ${contractVersion}, as errand knows it`);
    return problem(
      `the service is of version ${found.version}; errand knows ${contractVersion}`,
      'errand schema diff lists what differs; update errand where it is the older one.',
    );
  },
};

const howToGet =
  'errand auth login, or store one: errand auth token < key.txt; for rehearsals: errand sandbox mint';

function sourceOf({ from, name }: Setting<string>): string {
  if (from === 'command') return `the command \`${name}\``;
  return from === 'profile' ? `profile ${name}` : name;
}

export const key: Check = {
  name: 'key',
  async run({ context, probe }) {
    const { baseUrl, profile, shadowedKey } = context.settings;
    const apiKey = await context.apiKey();
    if (!apiKey) {
      const isLocal = profile.value === localProfile && baseUrl.value === embeddedUrl;
      return isLocal
        ? ok('none yet; the sandbox mints one when it is first needed')
        : problem(`there is no key for ${baseUrl.value}`, howToGet);
    }
    const name = `${maskKey(apiKey.value)} from ${sourceOf(apiKey)}`;
    const hidden: Finding[] = shadowedKey
      ? [
          problem(
            `${apiKey.name} hides the key ${maskKey(shadowedKey)} that is stored for profile ${profile.value}`,
            `Unset ${apiKey.name} to use the stored one.`,
          ),
        ]
      : [];
    if (!(await probe()).reached)
      return [skipped(`${name}: the service cannot be reached, so it is not checked`), ...hidden];
    try {
      await (await context.client()).call('wallet.get', {});
      return [
        ok(`key accepted: ${name}${keyMode(apiKey.value) === 'live' ? '; it spends money' : ''}`),
        ...hidden,
      ];
    } catch (error) {
      const isRefused = error instanceof ErrandError && error.category === 'authentication';
      const found = isRefused
        ? problem(`the service refuses ${name}: ${error.message}`, howToGet)
        : problemOf(error);
      return [found, ...hidden];
    }
  },
};
