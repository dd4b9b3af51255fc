// Baseline: the shortest script that fetches one URL: `node fetch.mjs URL AUTHORIZATION`.
const [, , url, authorization] = process.argv;
const response = await fetch(url, { headers: { authorization } });
process.stdout.write(await response.text());
