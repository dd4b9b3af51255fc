// Loaded before the program: its time stands still, at STILL_MS.
const now = Number(process.env.STILL_MS);
Date.now = () => now;
const { bigint } = process.hrtime;
const first = process.hrtime();
process.hrtime = Object.assign(() => first, { bigint });
