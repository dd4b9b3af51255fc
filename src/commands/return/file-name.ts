/** Names that Windows keeps for devices, whatever their extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const longest = 80;

/**
 * A name from outside as the name of a file in a folder of ours: its last part, of letters, digits and a few marks
 * only. No path, drive, device, control or invisible character is left; `label` where nothing else is.
 */
export function safeFileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._ -]/gu, '_')
    .replace(/^[. _-]+|[. ]+$/g, '');
  const name = plain === '' ? 'label' : plain;
  return shortened(reserved.test(name) ? `_${name}` : name);
}

/** Cut to what every file system takes, its extension kept. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? '';
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > longest) stem = [...stem].slice(0, -1).join('');
  return `${stem}${extension}`;
}
