import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place } from '../program/place.ts';
import { Terminal } from './terminal.ts';

let place: Place;
let terminal: Terminal;

beforeEach(() => {
  place = makePlace();
});
afterEach(() => {
  terminal.close();
  place.remove();
});

test.each([
  ['a line of text', ['address', 'add', 'home'], 'First name'],
  ['a secret', ['auth', 'token'], 'API key'],
  ['yes or no', ['sandbox', 'reset'], '(y/N)'],
  ['one of several', ['agent', 'search', 'coffee', '--pay-command', 'cat'], 'Pay by'],
])(
  'Ctrl-D in place of %s is no answer: it ends as Ctrl-C does, never as if all were done',
  async (_, args, shown) => {
    terminal = new Terminal(place, 'errand', args);
    await terminal.shows(shown);
    terminal.type('\u0004');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('interrupted; nothing was sent');
  },
);
