import type { ErrorCode } from '../contract/errors';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import { unanswered } from '../host/unanswered';

/** What of a look goes on by itself, and what is said when it cannot. */
interface FindingPart<T> {
  /** The same from look to look. */
  readonly name: string;
  /** What could not be done, as a sentence begins. */
  readonly failed: string;
  readonly work: () => Promise<T>;
}

interface Finding {
  readonly code: ErrorCode;
  readonly told: boolean;
}

/**
 * Looks again and again at things that have nothing to do with each other. What is wrong with one keeps nobody from the others, and is told once for as
 * long as it lasts. What has a code of its own is told at once. The rest, most often a server that is busy, is told when it lasts until the next look.
 */
export class Findings {
  private readonly standing = new Map<string, Finding>();

  constructor(private readonly tell: (problem: HoldfastError) => void) {}

  /** Something failed in the last look that may be well in the next one. */
  get untold(): boolean {
    return [...this.standing.values()].some(({ told }) => !told);
  }

  /** The result of the work, or undefined when it failed. */
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
