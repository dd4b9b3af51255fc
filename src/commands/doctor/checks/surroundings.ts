import { type Check, info } from '../check.ts';

export const program: Check = {
  name: 'program',
  run: ({ context: { version, diagnosis } }) => info(`errand ${version}, ${diagnosis?.runtime}`),
};

export const terminal: Check = {
  name: 'terminal',
  run({ context: { io, interactive, settings } }) {
    const { stdout } = io;
    const size = stdout.isTerminal ? `${stdout.columns()} columns` : 'no terminal on stdout';
    const looks = [
      size,
      stdout.color ? 'colour' : 'no colour',
      ...(settings.dumbTerminal ? ['TERM=dumb'] : []),
    ];
    return info(`${looks.join(', ')}; ${interactive.yes ? 'prompts' : `no prompts: ${interactive.why}`}`);
  },
};
