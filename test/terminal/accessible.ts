/** Everything but colours and styles moves the cursor or erases something. */
export const moves = /\u001b(?!\[[\d;]*m)|\u0008|\r(?!\n)/;
