import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { sha256 } from '../../contract/sha256';
import type { Frame } from '../effects/frames';

/** The last execution under a key. */
interface MadeAttempt {
  readonly input: string;
  /** Where it stands in the call: which `next` of which layers led there. */
  readonly at: string;
  readonly failed?: true;
}

const made = 'made';
const own = 'execution';

/**
 * Under which idempotency key a call is executed that layers hand on more than once. One is the same call as one before it that had the same
 * input and came to an error: its own, or one that reached the layer that now calls again. All else is another call: another input, one after
 * a result, and one beside it.
 */
export class CallExecution {
  private readonly number: number;

  /** `frame` is that of the whole call, `inner` that of this execution: entered again after a continue-as-new, it has the key that it had. */
  constructor(
    private readonly frame: Frame,
    inner: Frame,
    private readonly address: string,
    call: ToolCall,
  ) {
    const before = inner.noteOf(own);
    if (typeof before === 'number') {
      this.number = before;
      return;
    }
    const input = inputOf(call);
    const again = this.made.findIndex((one) => one.input === input && this.isOver(one, inner.key));
    this.number = again === -1 ? this.made.length + 1 : again + 1;
    this.keep({ input, at: inner.key });
    inner.note(own, this.number);
  }

  get key(): string {
    return this.number === 1 ? this.address : `${this.address}#${this.number}`;
  }

  /** It has come to an error, and may be made again. */
  failed(): void {
    const one = this.made[this.number - 1];
    if (one !== undefined) this.keep({ ...one, failed: true });
  }

  /** It failed, or what came of it was an error to the layer that now leads to another place. */
  private isOver({ at, failed }: MadeAttempt, place: string): boolean {
    if (failed === true) return true;
    const [before, now] = [at.split('/'), place.split('/')];
    const fork = before.findIndex((segment, position) => segment !== now[position]);
    const n = /^next(\d+)$/u.exec(before[fork] ?? '')?.[1];
    return n !== undefined && this.frame.hasFailed(before.slice(0, fork).join('/'), Number(n));
  }

  private get made(): readonly MadeAttempt[] {
    return (this.frame.noteOf(made) as unknown as readonly MadeAttempt[] | undefined) ?? [];
  }

  private keep(one: MadeAttempt): void {
    const all = [...this.made];
    all[this.number - 1] = one;
    this.frame.note(made, all as unknown as readonly Readonly<Record<string, never>>[]);
  }
}

/** Parsing has made a hash of the arguments. Most calls have no options. */
function inputOf({ input, inputHash, options }: ToolCall): string {
  return inputHash !== undefined && options === undefined ? inputHash : sha256(canonicalJson([inputHash ?? input, options ?? {}]));
}
