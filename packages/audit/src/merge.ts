/** Merges streams by a key that ascends within each; equal keys come in the order of the streams. */
export async function* mergeBy<Item>(
  streams: readonly AsyncIterator<Item>[],
  keyOf: (item: Item) => number,
): AsyncGenerator<Item> {
  const fronts: { readonly stream: AsyncIterator<Item>; item: Item; key: number }[] = [];
  for (const stream of streams) {
    const first = await stream.next();
    if (!first.done) fronts.push({ stream, item: first.value, key: keyOf(first.value) });
  }
  while (fronts.length > 0) {
    const least = fronts.reduce((best, front) => (front.key < best.key ? front : best));
    yield least.item;
    const next = await least.stream.next();
    if (next.done) fronts.splice(fronts.indexOf(least), 1);
    else {
      least.item = next.value;
      least.key = keyOf(next.value);
    }
  }
}
