import type { Noun } from '../../cli/define.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { status } from './status.ts';
import { token } from './token.ts';

export const noun: Noun = {
  name: 'auth',
  summary: 'Keys: store one, see which is used, forget it',
  verbs: [login, token, status, logout],
};
