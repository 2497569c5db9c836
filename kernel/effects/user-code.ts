import type { MaybePromise } from '../../contract/maybe-promise';

/**
 * The code of one frame. A cancel of the run halts the code: effects that the cancel refuses never settle, so a resumed run goes on where
 * the code stood. The halted code ends with the cancellation when all its effects have ended.
 */
export class UserCode {
  private open = 0;
  private cut: { readonly error: unknown } | undefined;
  private end: ((error: unknown) => void) | undefined;

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

  halt<T>(error: unknown): Promise<T> {
    this.cut ??= { error };
    this.endIfHalted();
    return new Promise<T>(() => undefined);
  }

  effectWaits(): void {
    this.open += 1;
  }

  effectEnded(): void {
    this.open -= 1;
    this.endIfHalted();
  }

  private endIfHalted(): void {
    if (this.cut !== undefined && this.open === 0) this.end?.(this.cut.error);
  }
}
