const bytesPerEntry = 200;

/** A cache bounded in bytes: least recently used entries go first. */
export class ByteMap<Value> {
  private readonly entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  put(key: string, value: Value, bytes: number): void {
    this.delete(key);
    this.entries.set(key, { value, bytes: bytes + bytesPerEntry });
    this.bytes += bytes + bytesPerEntry;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
