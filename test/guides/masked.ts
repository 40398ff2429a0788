/** Masks values that differ between runs: ids, instants and cursors. */
export function masked(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/"(rfd|sub|pay)_[0-9a-f-]{36}"/g, '"$1_…"')
    .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "urn:uuid:…")
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replaceAll(/"nextCursor":"[\w-]+"/g, '"nextCursor":"…"');
  return JSON.parse(text);
}
