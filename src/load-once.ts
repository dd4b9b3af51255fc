/** Loads something when it is first needed, such as a module: to ask the loader for it again costs as much as a small work. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> | T {
  let loaded: { readonly value: T } | undefined;
  const first = async (): Promise<T> => {
    const value = await load();
    loaded = { value };
    return value;
  };
  return () => (loaded ? loaded.value : first());
}
