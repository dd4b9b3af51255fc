import connectorOf from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { setV8Flag } from '../../platform/memory.ts';

/**
 * What errand takes from within undici, whose whole costs 50 ms at start. It promises none of it:
 * test/library-internals.test.ts fails when it changes.
 */
export { Agent, connectorOf };

/** What a proxy needs besides. */
export async function loadProxying() {
  const [connect, pool, proxyAgent] = await Promise.all([
    import('undici/lib/api/api-connect.js'),
    import('undici/lib/dispatcher/pool.js'),
    import('undici/lib/dispatcher/proxy-agent.js'),
  ]);
  return { connect: connect.default, Pool: pool.default, ProxyAgent: proxyAgent.default };
}

// undici's parser would be compiled again after one response, and the process waits for that before it ends: 80 ms.
setV8Flag('wasmBudget', 100_000_000);
