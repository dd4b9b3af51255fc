import type { ColumnMap, Stored } from './stored.ts';

/** A map of headings, and the preset that it adds to. */
export interface SavedMap {
  readonly map: ColumnMap;
  readonly preset: string | undefined;
}

/** The map of a name; undefined where none is saved. Pure. */
export function mapIn({ maps, map_presets: presets }: Stored, name: string): SavedMap | undefined {
  const map = Object.hasOwn(maps, name) ? maps[name] : undefined;
  return map && { map, preset: Object.hasOwn(presets, name) ? presets[name] : undefined };
}

/** With a map saved, in the place of an earlier one. Pure. */
export function withMap(stored: Stored, name: string, { map, preset }: SavedMap): Stored {
  const { [name]: _, ...others } = stored.map_presets;
  return {
    ...stored,
    maps: { ...stored.maps, [name]: map },
    map_presets: { ...others, ...(preset !== undefined && { [name]: preset }) },
  };
}
