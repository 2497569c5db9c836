import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { sha256 } from '../../contract/sha256';
import type { Frame } from '../effects/frames';

/** What the frame of a call keeps: how many keys were given, and those of executions that failed, by what they were given. */
interface Given {
  readonly keys: number;
  readonly failed: Readonly<Record<string, number>>;
}

const given = 'executions';
const own = 'execution';

/**
 * Under which idempotency key a call is executed that layers hand on more than once. One that failed and is handed on again with the same
 * input is the same call. All else is another one: another input, one after it had a result, and one beside it.
 */
export class Execution {
  private readonly number: number;

  /** `frame` is that of the whole call, `inner` that of this execution: entered again behind a border, it has the key that it had. */
  constructor(
    private readonly frame: Frame,
    inner: Frame,
    private readonly address: string,
    private readonly call: ToolCall,
  ) {
    const before = inner.noteOf(own);
    this.number = typeof before === 'number' ? before : this.next();
    inner.note(own, this.number);
  }

  get key(): string {
    return this.number === 1 ? this.address : `${this.address}#${this.number}`;
  }

  /** It has come to an error, and may be made again. */
  failed(): void {
    const { keys, failed } = this.given;
    this.note({ keys, failed: { ...failed, [this.input]: this.number } });
  }

  private next(): number {
    const { keys, failed } = this.given;
    if (keys > 0) {
      const { [this.input]: again, ...others } = failed;
      if (again !== undefined) {
        this.note({ keys, failed: others });
        return again;
      }
    }
    this.note({ keys: keys + 1, failed });
    return keys + 1;
  }

  private get input(): string {
    return sha256(canonicalJson([this.call.input, this.call.options ?? {}])).slice(0, 16);
  }

  private get given(): Given {
    return (this.frame.noteOf(given) as unknown as Given | undefined) ?? { keys: 0, failed: {} };
  }

  private note(value: Given): void {
    this.frame.note(given, value as unknown as Readonly<Record<string, never>>);
  }
}
