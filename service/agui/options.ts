import { z } from 'zod';
import type { RunHook } from './run-hooks';
import type { EventPlugin, TranslateOptions } from './translate';

export interface AguiOptions {
  /** Callbacks around the translation of events. */
  readonly translate?: TranslateOptions;
  /** Read or replace events of runs before the translation. */
  readonly plugins?: readonly EventPlugin[];
  /** Run before and after each AG-UI run, and may send events. */
  readonly hooks?: readonly RunHook[];
  /** Stops the turn when the client goes away. Default: the turn goes on. */
  readonly stopWhenGone?: boolean;
}

const callbacks = <T>(): z.ZodType<readonly T[]> => z.array(z.custom<T>((value) => typeof value === 'function', 'is no function'));

export const AguiOptionsSchema = z.strictObject({
  translate: z
    .strictObject({
      before: callbacks<NonNullable<TranslateOptions['before']>[number]>().optional(),
      after: callbacks<NonNullable<TranslateOptions['after']>[number]>().optional(),
    })
    .optional(),
  plugins: z.array(z.custom<EventPlugin>(isPlugin, 'is no plugin; it has a name and onEvent')).optional(),
  hooks: z.array(z.custom<RunHook>(isHook, 'is no run hook; it has a name, and beforeRun or afterRun')).optional(),
  stopWhenGone: z.boolean().optional(),
}) as z.ZodType<AguiOptions>;

function isPlugin(value: unknown): boolean {
  const { name, onEvent } = (value ?? {}) as Partial<Record<keyof EventPlugin, unknown>>;
  return typeof name === 'string' && name !== '' && typeof onEvent === 'function';
}

function isHook(value: unknown): boolean {
  const { name, beforeRun, afterRun } = (value ?? {}) as Partial<Record<keyof RunHook, unknown>>;
  const given = [beforeRun, afterRun].filter((hook) => hook !== undefined);
  return typeof name === 'string' && name !== '' && given.length > 0 && given.every((hook) => typeof hook === 'function');
}
