import type { RootNoun } from '../../cli/define.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { status } from './status.ts';
import { token } from './token.ts';

export const noun: RootNoun = {
  verbs: [login, token, status, logout],
};
