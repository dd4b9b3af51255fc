export function placeByLibrary(library: unknown, call: object): Promise<string>;
