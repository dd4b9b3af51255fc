/** A terminal's screen: what is seen once the bytes were obeyed. Knows what `live` and the progress bar write. */
export class Screen {
  #cells: string[][] = [[]];
  #row = 0;
  #column = 0;
  cursorShown = true;

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {}

  reset(): void {
    this.#cells = [[]];
    this.#row = 0;
    this.#column = 0;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\u001b\[[?\d;]*[A-Za-z]|[\s\S]/g)) {
      if (part.length > 1) this.#obey(part);
      else this.#put(part);
    }
  }

  /** Every line that was ever drawn, scrolled-off ones included, without blanks at the ends. */
  lines(): string[] {
    const lines = this.#cells.map((cells) =>
      Array.from(cells, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  /** A terminal made narrower wraps the lines that are too long. */
  narrowed(columns: number): Screen {
    const screen = new Screen(columns, this.rows);
    screen.write(
      this.lines()
        .map((line) => `${line}\n`)
        .join(''),
    );
    return screen;
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#newLine();
    else {
      if (this.#column >= this.columns) this.#newLine();
      this.#line()[this.#column] = character;
      this.#column += 1;
    }
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#line();
  }

  #line(): string[] {
    while (this.#cells.length <= this.#row) this.#cells.push([]);
    return this.#cells[this.#row] ?? [];
  }

  #obey(sequence: string): void {
    const amount = Number(/\d+/.exec(sequence)?.[0] ?? 1);
    if (sequence.endsWith('A')) this.#row = Math.max(0, this.#row - Math.min(amount, this.rows - 1));
    else if (sequence.endsWith('G')) this.#column = amount - 1;
    else if (sequence === '\u001b[2K') this.#line().length = 0;
    else if (sequence.endsWith('K')) this.#line().length = Math.min(this.#line().length, this.#column);
    else if (sequence.endsWith('J')) {
      this.#line().length = Math.min(this.#line().length, this.#column);
      this.#cells.length = this.#row + 1;
    } else if (sequence.endsWith('h')) this.cursorShown = true;
    else if (sequence.endsWith('l')) this.cursorShown = false;
    else if (!sequence.endsWith('m')) throw new Error(`the screen does not know ${JSON.stringify(sequence)}`);
  }
}
