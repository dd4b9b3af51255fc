import type { RootNoun } from '../../cli/define.ts';
import { list } from './list.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { status } from './status.ts';
import { token } from './token.ts';
import { use } from './use.ts';

export const noun: RootNoun = {
  verbs: [login, token, status, list, use, logout],
};
