/** A set of row numbers in one bit each, so that a million of them fit in 125 kB. */
export class RowNumbers {
  #bits = new Uint8Array(1024);

  add(row: number): void {
    const byte = row >> 3;
    if (byte >= this.#bits.length) {
      const more = new Uint8Array(Math.max(byte + 1, this.#bits.length * 2));
      more.set(this.#bits);
      this.#bits = more;
    }
    this.#bits[byte] = this.#byte(byte) | (1 << (row & 7));
  }

  has(row: number): boolean {
    return (this.#byte(row >> 3) & (1 << (row & 7))) !== 0;
  }

  #byte(at: number): number {
    return this.#bits[at] ?? 0;
  }
}
