interface Cell {
  readonly character: string;
  /** Active style codes, such as `1;36`; empty if unstyled. */
  readonly style: string;
}

/** Adjacent characters of the same style. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly style: string;
}

/** Codes reset by each code: bold and dim, a colour. */
const ends: Readonly<Record<string, RegExp>> = { 22: /^[12]$/, 39: /^(?:3|9)\d$/ };

/** A minimal terminal emulator that supports what `live` and the progress bar write. */
export class Screen {
  #cells: Cell[][] = [[]];
  #style: readonly string[] = [];
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

  /** All lines ever drawn, including those scrolled off, without trailing blanks. */
  lines(): string[] {
    const lines = this.#cells.map((cells) =>
      Array.from(cells, (cell?: Cell) => cell?.character ?? ' ')
        .join('')
        .trimEnd(),
    );
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  /** All lines as runs of equal style, without trailing blanks. */
  runs(): Run[][] {
    return this.lines().map((line, row) => {
      const runs: Run[] = [];
      for (const [column, character] of Array.from(line).entries()) {
        const style = this.#cells[row]?.[column]?.style ?? '';
        const last = runs.at(-1);
        if (last?.style === style) runs[runs.length - 1] = { ...last, text: last.text + character };
        else runs.push({ column, text: character, style });
      }
      return runs;
    });
  }

  /** Rewraps the lines for a narrower terminal. */
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
      this.#line()[this.#column] = { character, style: this.#style.join(';') };
      this.#column += 1;
    }
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#line();
  }

  #line(): Cell[] {
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
    else if (sequence.endsWith('m')) this.#paint(sequence.slice(2, -1).split(';'));
    else throw new Error(`the screen does not know ${JSON.stringify(sequence)}`);
  }

  #paint(codes: readonly string[]): void {
    for (const code of codes) {
      if (code === '' || code === '0') this.#style = [];
      else if (ends[code]) this.#style = this.#style.filter((one) => !ends[code]?.test(one));
      else this.#style = [...this.#style.filter((one) => one !== code), code];
    }
  }
}
