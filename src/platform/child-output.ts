import type { Readable } from 'node:stream';

/** A line that has no end is shown in pieces of this many characters. */
const longestLine = 4096;

/** Tells each line that a program prints which the user had run. It is text from outside: whoever tells it makes it safe. */
export function tellLines(stream: Readable, tell: (line: string) => void): void {
  let rest = '';
  const say = (line: string): void => {
    if (line.trim() !== '') tell(line);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(say);
    for (; rest.length > longestLine; rest = rest.slice(longestLine)) say(rest.slice(0, longestLine));
  });
  stream.on('end', () => say(rest));
  // A stream that is destroyed has nothing more to say.
  stream.on('error', () => {});
}
