/** Code waits here until the test opens the gate, and the test waits until code arrives. */
export interface Gate {
  readonly reached: Promise<void>;
  open(): void;
  pass(): Promise<void>;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  let reach: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return {
    reached,
    open,
    pass: () => {
      reach();
      return opened;
    },
  };
}

/** Waits until `count` callers have arrived, again and again. */
export function meeting(count: number): () => Promise<void> {
  let there: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      there.push(resolve);
      if (there.length < count) return;
      for (const goOn of there) goOn();
      there = [];
    });
}
