/** Works on at most `most` items at once, and yields the results in the order of the items. */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = [];
  for await (const item of items) {
    const result = work(item);
    // Thrown at the place of the item.
    result.catch(() => undefined);
    ahead.push(result);
    if (ahead.length >= most) yield ahead.shift() as Promise<Result>;
  }
  for (const result of ahead) yield result;
}
