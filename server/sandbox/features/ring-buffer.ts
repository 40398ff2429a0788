/** The latest items, limited by bytes and perhaps by count, and kept in memory only. */
export type Ring<Item> = {
  add(item: Item): void;
  /** The newest first. */
  list(): readonly Item[];
  removeWhere(matches: (item: Item) => boolean): void;
};

/** @param bytesOf the approximate size of an item in memory */
export function createRing<Item>(options: {
  maxItems?: number;
  maxBytes: number;
  bytesOf: (item: Item) => number;
}): Ring<Item> {
  const { maxItems = Number.POSITIVE_INFINITY, maxBytes, bytesOf } = options;
  let items: Item[] = [];
  let bytes = 0;
  return {
    add(item) {
      items.push(item);
      bytes += bytesOf(item);
      while (items.length > maxItems || (bytes > maxBytes && items.length > 0)) {
        const oldest = items.shift();
        if (oldest) bytes -= bytesOf(oldest);
      }
    },
    list: () => items.toReversed(),
    removeWhere(matches) {
      items = items.filter((item) => !matches(item));
      bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
    },
  };
}
