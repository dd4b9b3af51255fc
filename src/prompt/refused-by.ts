import { UsageError } from '../errors.ts';

/** Turns a parser that throws into a check that tells why a text is refused. */
export const refusedBy =
  (parse: (text: string) => unknown) =>
  (text: string): string | undefined => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  };
