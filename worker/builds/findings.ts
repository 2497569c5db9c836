import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { unanswered } from '../../host/unanswered';

interface FindingPart<T> {
  readonly name: string;
  readonly failed: string;
  readonly work: () => Promise<T>;
}

interface Finding {
  readonly code: ErrorCode;
  readonly told: boolean;
}

/**
 * Checks independent parts repeatedly. A lasting problem is reported once: at once with a code, otherwise, as with a busy server, if it
 * lasts until the next check.
 */
export class Findings {
  private readonly standing = new Map<string, Finding>();

  constructor(private readonly tell: (problem: HoldfastError) => void) {}

  get untold(): boolean {
    return [...this.standing.values()].some(({ told }) => !told);
  }

  async during<T>({ name, failed, work }: FindingPart<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.standing.delete(name);
      return result;
    } catch (error) {
      this.found(name, failed, error);
      return undefined;
    }
  }

  private found(name: string, failed: string, error: unknown): void {
    const known = codeOf(error);
    const code = known ?? 'build-check-failed';
    const before = this.standing.get(name);
    const again = before?.code === code;
    const told = known !== undefined || again;
    this.standing.set(name, { code, told });
    if (!told || (again && before.told)) return;
    this.tell(
      known !== undefined
        ? (error as HoldfastError)
        : new HoldfastError(code, `${failed}: ${unanswered(error) ?? messageOf(error)}`, { cause: error }),
    );
  }
}
