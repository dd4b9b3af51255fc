import { usStates } from '../../api/country.ts';
import { limits } from '../../api/limits.ts';
import type { AddressFields } from './options.ts';

/** Digits with the signs that people group them with, and an extension. */
const phoneForm = /^\+?[\d\s()./-]+(?:(?:x|ext\.?)\s?\d{1,6})?$/i;
const phoneDigits = { min: 7, max: 15 };
const longestPhone = 40;

const stateNames = new Set(Object.values(usStates).map((name) => name.toLowerCase()));

/**
 * What is wrong with a field of an address that the service accepts and no carrier can use.
 * Said where a person gives the address; undefined where nothing is wrong.
 */
export function addressProblem(field: string, address: AddressFields): string | undefined {
  const value = address[field];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (field === 'phone_number') return phoneProblem(value.trim());
  const isUs = typeof address.country === 'string' && address.country.trim().toUpperCase() === 'US';
  return field === 'state' && isUs ? stateProblem(value.trim()) : undefined;
}

/** Every such problem of the fields given. */
export const addressProblems = (address: AddressFields): { field: string; message: string }[] =>
  Object.keys(address).flatMap((field) => {
    const message = addressProblem(field, address);
    return message === undefined ? [] : [{ field, message }];
  });

function phoneProblem(text: string): string | undefined {
  if (text.length <= longestPhone && phoneForm.test(text)) {
    const digits = digitsIn(text);
    if (digits >= phoneDigits.min && digits <= phoneDigits.max) return undefined;
  }
  return `"${shortened(text)}" is not a phone number: ${phoneDigits.min} to ${phoneDigits.max} digits`;
}

/** How many digits stand before an extension. Each row of a file has a phone number, so no text is made of it. */
function digitsIn(text: string): number {
  let count = 0;
  for (const character of text) {
    if (character === 'x' || character === 'X') break;
    if (character >= '0' && character <= '9') count += 1;
  }
  return count;
}

function stateProblem(text: string): string | undefined {
  if (Object.hasOwn(usStates, text.toUpperCase()) || stateNames.has(text.toLowerCase())) return undefined;
  return `"${shortened(text)}" is not a US state; write its two letters, such as TX`;
}

const emailForm = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

/** Why a text is not an email address; undefined for one. */
export function emailProblem(text: string): string | undefined {
  if (text.length <= limits.userEmailLength.max && emailForm.test(text)) return undefined;
  return `"${shortened(text)}" is not an email address`;
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
