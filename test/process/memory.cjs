// Tells at the end how large V8's young generation has become, bytes, in the file that YOUNG_GENERATION names.
const { writeFileSync } = require('node:fs');
const { getHeapSpaceStatistics } = require('node:v8');

process.on('exit', () => {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  writeFileSync(process.env.YOUNG_GENERATION, String(young.space_size));
});
