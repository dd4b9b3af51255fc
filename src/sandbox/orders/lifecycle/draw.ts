import { hash } from 'node:crypto';

/** Chance, fixed by the seed and the order. Each draw has a name, so that adding one changes no other. */
export interface Draw {
  /** From 0 up to, not including, 1. */
  fraction(name: string): number;
  /** At most 18 digits. */
  digits(name: string, count: number): string;
  uuid(name: string): string;
  pick<T>(name: string, choices: readonly [T, ...T[]]): T;
}

export function drawFor(seed: string | number, orderId: string): Draw {
  const digest = (name: string) => hash('sha256', `${seed}\n${orderId}\n${name}`, 'buffer');
  const fraction = (name: string) => digest(name).readUInt32BE(0) / 2 ** 32;
  return {
    fraction,
    digits: (name, count) => {
      const number = digest(name).readBigUInt64BE(8) % 10n ** BigInt(count);
      return number.toString().padStart(count, '0');
    },
    uuid: (name) => {
      const hex = digest(name).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
    pick: (name, choices) => choices[Math.floor(fraction(name) * choices.length)] ?? choices[0],
  };
}
