// Builds the program, unless it is built from just these sources: `npm ci` has done that in a fresh clone.
import { isBuilt } from './built.js';

if (!isBuilt()) await import('./build.js');
