/** Reads one protobuf message field by field out of bytes, without copying. `next` moves on; what is not taken is passed over. */
export class WireCursor {
  /** Number of the field that the cursor stands at. */
  field = 0;
  private type = -1;

  constructor(
    readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  next(): boolean {
    this.pass();
    if (this.at >= this.end) return false;
    const tag = this.takeVarint();
    this.field = Math.floor(tag / 8);
    this.type = tag % 8;
    return true;
  }

  /** Exact up to 2^53; ids and times are smaller. */
  varint(): number {
    this.expect(0);
    return this.takeVarint();
  }

  /** A message within this one. */
  message(): WireCursor {
    const length = this.takeLength();
    const message = new WireCursor(this.bytes, this.at, this.at + length);
    this.at += length;
    return message;
  }

  /** Shares the memory. */
  slice(): Buffer {
    const length = this.takeLength();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    const length = this.takeLength();
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  private pass(): void {
    switch (this.type) {
      case -1:
        return;
      case 0:
        this.takeVarint();
        return;
      case 1:
        this.jump(8);
        return;
      case 2:
        this.jump(this.takeLength());
        return;
      case 5:
        this.jump(4);
        return;
      default:
        throw broken(`wire type ${this.type}`);
    }
  }

  private takeLength(): number {
    this.expect(2);
    const length = this.takeVarint();
    if (this.at + length > this.end) throw broken('a length beyond the end');
    return length;
  }

  private takeVarint(): number {
    this.type = -1;
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = this.at < this.end ? this.bytes[this.at++] : undefined;
      if (byte === undefined) throw broken('a number without an end');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw broken('a number of more than 10 bytes');
  }

  private jump(count: number): void {
    this.type = -1;
    if (this.at + count > this.end) throw broken('a field beyond the end');
    this.at += count;
  }

  private expect(type: number): void {
    if (this.type !== type) throw broken(`wire type ${this.type} of field ${this.field}, not ${type}`);
  }
}

function broken(what: string): RangeError {
  return new RangeError(`These bytes are no message: ${what}.`);
}
