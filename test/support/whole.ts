/**
 * Whether a test of many ways or widths tries all of them. `npm test` tries each of them somewhere, and not each with everything:
 * the parts of `npm run proofs` that set EVERY_WAY try the whole.
 */
export const isWhole = process.env.EVERY_WAY === '1';
