export class KeptAnswer<Answer> {
  private until = -Infinity;
  private answer: Promise<Answer> | undefined;

  constructor(
    private readonly forMs: number,
    private readonly ask: () => Promise<Answer>,
  ) {}

  get(): Promise<Answer> {
    if (this.answer !== undefined && Date.now() < this.until) return this.answer;
    this.until = Date.now() + this.forMs;
    return (this.answer = this.ask());
  }
}
