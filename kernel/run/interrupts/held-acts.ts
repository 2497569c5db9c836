export class HeldActs {
  private held: (() => void)[] | undefined;

  get isOn(): boolean {
    return this.held !== undefined;
  }

  hold(): void {
    this.held ??= [];
  }

  goOn(): void {
    const { held = [] } = this;
    this.held = undefined;
    for (const act of held) act();
  }

  act(act: () => void): void {
    if (this.held === undefined) act();
    else this.held.push(act);
  }
}
