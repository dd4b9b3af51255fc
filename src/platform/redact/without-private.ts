import { redacted, redactor } from './redactor.ts';

const email = /[^\s<>"'(),;:@]{1,100}@[^\s<>"'(),;:@]{3,255}/g;
const manyDigits = /(?<![\w$€£.,])\+?\(?\d[\d\s()./-]{5,}\d(?!\w)/g;
const isoDate = /^\d{4}-\d{2}-\d{2}$/;

/** What somebody typed and is kept for long, without secrets, email addresses and what may be a phone number; a date stays. */
export const withoutPrivate = (text: string): string =>
  redactor
    .text(text)
    .replace(email, redacted)
    .replace(manyDigits, (found) =>
      isoDate.test(found) || found.replace(/\D/g, '').length < 7 ? found : redacted,
    );
