import type { Store } from '../store/store.ts';

interface NewUser {
  readonly id: string;
  readonly email: string | null;
  /** ms since the epoch. */
  readonly createdAt: number;
}

const firstNumber = 1001;

/** Keeps a new user, with the number that records show of it. Within a transaction. */
export function insertUser(store: Store, { id, email, createdAt }: NewUser): void {
  store.run(
    `INSERT INTO users (id, email, created_at, number) VALUES (?, ?, ?, (SELECT coalesce(max(number) + 1, ?) FROM users))`,
    id,
    email,
    createdAt,
    firstNumber,
  );
}

/** The number that records show of a user. */
export const userNumber = (store: Store, userId: string): number =>
  store.lasting(`number of ${userId}`, () =>
    Number(store.get('SELECT number FROM users WHERE id = ?', userId)?.number),
  );
