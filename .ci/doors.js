/** The doors for programs. Each is a file of `src/integrations/sdk/`, an entry of the build, and a row of `exports` in package.json. */
export const doors = ['index', 'safely', 'sandbox', 'vitest'];
