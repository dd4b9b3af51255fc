// A clock that was set back an hour, for one process.
const now = Date.now.bind(Date);
Date.now = () => now() - 3_600_000;
