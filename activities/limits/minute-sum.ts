export class MinuteSum {
  private readonly seconds = new Map<number, number>();

  constructor(private readonly now: () => number) {}

  add(amount: number): void {
    const second = this.forget();
    this.seconds.set(second, (this.seconds.get(second) ?? 0) + amount);
  }

  get sum(): number {
    this.forget();
    let sum = 0;
    for (const amount of this.seconds.values()) sum += amount;
    return Math.max(0, sum);
  }

  private forget(): number {
    const second = Math.floor(this.now() / 1000);
    for (const known of this.seconds.keys()) if (known <= second - 60) this.seconds.delete(known);
    return second;
  }
}
