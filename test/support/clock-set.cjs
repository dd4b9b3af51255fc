// The machine's clock is set, by CLOCK_SET_MS, so long after the program has started.
const now = Date.now.bind(Date);
const [setBy, afterMs] = [Number(process.env.CLOCK_SET_MS), Number(process.env.CLOCK_SET_AFTER_MS)];
Date.now = () => now() + (performance.now() > afterMs ? setBy : 0);
