/** Asks again until the answer is there: the lists of the server come a moment after what they list. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
