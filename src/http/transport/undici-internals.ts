import { setFlagsFromString } from 'node:v8';
import connectorOf from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

/**
 * What errand takes from within undici, whose whole costs 50 ms at start, and from V8. Neither promises any of it:
 * test/library-internals.test.ts fails when one of them changes it.
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

/** Keeps V8 from compiling wasm a second time once it has run a while. */
export const wasmFlag = '--wasm-tiering-budget';
/** V8 of Node 24; a later one may not know the flag, and would say so on stderr. */
export const latestKnownV8 = 13;

// undici's parser would be compiled again after one response, and the process waits for that before it ends: 80 ms.
if (Number.parseInt(process.versions.v8, 10) <= latestKnownV8) setFlagsFromString(`${wasmFlag}=100000000`);
