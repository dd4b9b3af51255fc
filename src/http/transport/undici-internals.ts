import connectorOf from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { setV8Flag } from '../../platform/memory.ts';

/**
 * Loads only parts of undici, because loading all of it takes 50 ms at startup. These parts are not a public API. If
 * they change, test/process/library-internals.test.ts fails.
 */
export { Agent, connectorOf };

/** Loads the additional parts that a proxy needs. */
export async function loadProxying() {
  const [connect, pool, proxyAgent] = await Promise.all([
    import('undici/lib/api/api-connect.js'),
    import('undici/lib/dispatcher/pool.js'),
    import('undici/lib/dispatcher/proxy-agent.js'),
  ]);
  return { connect: connect.default, Pool: pool.default, ProxyAgent: proxyAgent.default };
}

// Without this flag, V8 compiles undici's parser again after one response, and the process waits 80 ms for that when it
// exits.
setV8Flag('wasmBudget', 100_000_000);
