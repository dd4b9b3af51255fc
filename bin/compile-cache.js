// V8's compiled code of this program, kept from one start to the next: a third of a start on Node 24 goes to compiling.
const { lstatSync, mkdirSync } = require('node:fs');
const { enableCompileCache, getCompileCacheDir } = require('node:module');
const { isAbsolute, join } = require('node:path');

/** The folder of the user's caches; undefined where the environment names none. */
function cachesOf({ env, platform }) {
  if (platform === 'win32') return env.LOCALAPPDATA;
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return env.XDG_CACHE_HOME;
  if (!env.HOME || !isAbsolute(env.HOME)) return undefined;
  return platform === 'darwin' ? join(env.HOME, 'Library', 'Caches') : join(env.HOME, '.cache');
}

/** What lies in the folder is run: it must be this user's own, and nobody else may write there. */
function isOwn(folder, { getuid, platform }) {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) return false;
  return platform === 'win32' || (stats.uid === getuid() && (stats.mode & 0o022) === 0);
}

/**
 * Uses the cache, in a folder that is made where there is none. Node that has no such cache, and one that was told where
 * to keep it or to keep none, is left as it is; where the folder cannot be had, the start is only slower.
 */
function useCompileCache(process) {
  if (enableCompileCache === undefined || getCompileCacheDir() !== undefined) return;
  const caches = cachesOf(process);
  if (!caches) return;
  const folder = join(caches, 'errand');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isOwn(folder, process)) enableCompileCache(folder);
  } catch {
    // Read-only, full, or no folder at all.
  }
}

module.exports = { useCompileCache };
