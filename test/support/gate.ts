/** A place where code waits until the test lets it go on, and where the test waits until code is there. */
export interface Gate {
  /** Settles when somebody has come. */
  readonly reached: Promise<void>;
  /** Lets everybody through, now and later. */
  open(): void;
  /** Called by the code that waits. */
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

/** A place where code waits until so many are there; they go on together, and the next so many after them. */
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
