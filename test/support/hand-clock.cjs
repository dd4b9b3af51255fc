// Loaded before the program: its deadlines are in a test's hand. An hour passes at each SIGUSR2, and whatever timer is due
// by then fires. With HAND_CLOCK=still no other time passes.
const hourMs = 3_600_000;
const { hrtime } = process;
const first = hrtime();
let hours = 0;
const now = () => {
  const [seconds, nanoseconds] = process.env.HAND_CLOCK === 'still' ? first : hrtime();
  return [seconds + (hours * hourMs) / 1000, nanoseconds];
};
process.hrtime = Object.assign(now, { bigint: hrtime.bigint });

const { setTimeout: setTimer, clearTimeout: clearTimer } = globalThis;
const pending = new Map();
const setHandTimer = (callback, ms = 0, ...values) => {
  const fire = () => {
    pending.delete(timer);
    callback(...values);
  };
  const timer = setTimer(fire, ms);
  if (ms <= hourMs) pending.set(timer, fire);
  return timer;
};
globalThis.setTimeout = Object.assign(setHandTimer, setTimer);
globalThis.clearTimeout = (timer) => {
  pending.delete(timer);
  clearTimer(timer);
};
process.on('SIGUSR2', () => {
  hours += 1;
  for (const [timer, fire] of pending) {
    clearTimer(timer);
    fire();
  }
});
