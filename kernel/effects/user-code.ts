import type { MaybePromise } from '../../contract/maybe-promise';

/**
 * The code of one frame, or of all branches of a race. A cancel of the run halts the code, as does a stopped turn whose refusals the code
 * catches: refused effects never settle, so a resumed run goes on where the code stood. The halted code ends when all its calls have ended.
 */
export class UserCode {
  private open = 0;
  private refused = 0;
  private cut: { readonly error: unknown } | undefined;
  private end: ((error: unknown) => void) | undefined;
  private readonly races = new Set<UserCode>();

  refuse(): number {
    return ++this.refused;
  }

  get isHalted(): boolean {
    return this.cut !== undefined;
  }

  endOf<T>(code: MaybePromise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.end = reject;
      this.endIfHalted();
      Promise.resolve(code).then(resolve, reject);
    });
  }

  /** A branch may wait for what the code around has asked for, so the branches are halted with the code around. */
  endOfRace<T>(branches: UserCode, decided: Promise<T>): Promise<T> {
    this.races.add(branches);
    if (this.cut !== undefined) void branches.halt(this.cut.error);
    return branches.endOf(decided).finally(() => this.races.delete(branches));
  }

  halt<T>(error: unknown): Promise<T> {
    this.cut ??= { error };
    for (const race of this.races) if (!race.isHalted) void race.halt(error);
    this.endIfHalted();
    return new Promise<T>(() => undefined);
  }

  callWaits(): void {
    this.open += 1;
  }

  callEnded(): void {
    this.open -= 1;
    this.endIfHalted();
  }

  private endIfHalted(): void {
    if (this.cut !== undefined && this.open === 0) this.end?.(this.cut.error);
  }
}
