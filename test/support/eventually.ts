/** Repeats until the answer is there, because server lists lag. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
