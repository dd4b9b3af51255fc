/** The three ways in which a text can stand within a longer base64 text, without the characters its neighbours shape. */
export const base64Texts = (text: string): string[] =>
  [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const end = Math.floor((shifted.length * 8) / 6);
    return shifted.toString('base64').slice(Math.ceil((offset * 8) / 6), end);
  });
