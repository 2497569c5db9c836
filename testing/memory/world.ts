import { HoldfastError } from '../../contract/errors';
import type { EventBody } from '../../contract/events';
import { limits } from '../../contract/limits';
import type { LogWriter } from '../../kernel/log/run-log';
import type { ChildRun } from '../../kernel/run/ports';
import type { MemoryChild } from './children';
import type { VirtualClock } from './clock';
import type { MemoryRecord } from './record';
import type { MemoryWork } from './work';

export interface MemoryWorld {
  readonly work: MemoryWork;
  readonly clock: VirtualClock;
  readonly record: MemoryRecord;
  changed(): void;
  wantsContinueAsNew(): boolean;
  startChild(child: ChildRun): MemoryChild;
  /** Absent: no parent. */
  readonly tellParent?: (event: EventBody) => void;
}

export function logWriter({ record, changed }: Pick<MemoryWorld, 'record' | 'changed'>, hasLeft: () => boolean): LogWriter {
  return {
    writeMemo: (values) => {
      if (hasLeft()) return;
      record.write({ kind: 'memo', values });
      changed();
    },
    takeForEvent: (bytes) => {
      if (bytes > limits.stepEvents)
        throw new HoldfastError('payload-too-large', `The events of one step have more than ${limits.stepEvents} bytes together.`);
    },
    takeForStep: () => true,
  };
}
