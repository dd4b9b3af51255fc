// The machine's clock is set, by CLOCK_SET_MS, so long after the program has started. With CLOCK_STILL_AT it stands there.
const now = Date.now.bind(Date);
const { CLOCK_STILL_AT } = process.env;
const [setBy, afterMs] = [Number(process.env.CLOCK_SET_MS), Number(process.env.CLOCK_SET_AFTER_MS)];
Date.now = () => Number(CLOCK_STILL_AT) || now() + (performance.now() > afterMs ? setBy : 0);
if (CLOCK_STILL_AT) {
  const { hrtime } = process;
  const first = hrtime();
  process.hrtime = Object.assign(() => first, { bigint: hrtime.bigint });
}
