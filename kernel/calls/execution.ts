import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { sha256 } from '../../contract/sha256';
import type { Frame } from '../effects/frames';

interface MadeAttempt {
  readonly input: string;
  readonly at: string;
  readonly failed?: true;
}

const made = 'made';
const own = 'execution';

/**
 * The idempotency key of an execution, for layers that call `next` more than once. An execution keeps the key of an earlier execution with
 * the same input that failed, or whose error reached the layer that calls again.
 */
export class CallExecution {
  private readonly number: number;

  /** The key survives a continue-as-new. */
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

  failed(): void {
    const one = this.made[this.number - 1];
    if (one !== undefined) this.keep({ ...one, failed: true });
  }

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

function inputOf({ input, inputHash, options }: ToolCall): string {
  return inputHash !== undefined && options === undefined ? inputHash : sha256(canonicalJson([inputHash ?? input, options ?? {}]));
}
