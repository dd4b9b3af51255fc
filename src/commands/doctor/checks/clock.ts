import { type Check, info, ok, skipped, trouble } from '../check.ts';

/** A date header has whole seconds, and the response takes its time. */
const allowedMs = 30_000;

export const clock: Check = {
  name: 'clock',
  async run({ probe }) {
    const found = await probe();
    if (!found.reached) return skipped('the service cannot be reached, so its clock is unknown');
    const theirs = found.date === undefined ? Number.NaN : Date.parse(found.date);
    if (Number.isNaN(theirs)) return info('the service sends no clock header');
    // It was written somewhere between the request and the response.
    const skew = found.at - found.tookMs / 2 - theirs;
    if (Math.abs(skew) <= allowedMs) return ok('the clock of this machine agrees with that of the service');
    const seconds = Math.round(Math.abs(skew) / 1000);
    return trouble(
      `this machine's clock is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service's`,
      'Set it by the network (timedatectl set-ntp true; or the date settings of the system). A sandbox that was advanced differs on purpose.',
    );
  },
};
