import { embeddedUrl } from '../../../config/stored.ts';
import { type Check, info, ok, trouble, troubleOf } from '../check.ts';

const patienceMs = 5000;

export const proxy: Check = {
  name: 'proxy',
  async run({ context: { settings } }) {
    const { baseUrl, proxy: proxies } = settings;
    if (baseUrl.value === embeddedUrl) return info('the embedded sandbox is reached without the network');
    const { tryProxy } = await import('../../../http/proxy.ts');
    try {
      const tried = await tryProxy(new URL(baseUrl.value), proxies, patienceMs);
      const exempt = proxies.none ? `; NO_PROXY is ${proxies.none}` : '';
      if (!tried) return ok(`requests to ${baseUrl.value} go through no proxy${exempt}`);
      if (!tried.trouble) return ok(`the proxy ${tried.proxy} takes connections${exempt}`);
      return trouble(
        `the proxy ${tried.proxy} cannot be reached: ${tried.trouble}`,
        `Correct or unset HTTPS_PROXY or HTTP_PROXY; or go round it: NO_PROXY=${new URL(baseUrl.value).hostname}`,
      );
    } catch (error) {
      return troubleOf(error);
    }
  },
};
