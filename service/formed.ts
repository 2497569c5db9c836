import { z } from 'zod';
import type { Form } from '../contract/check';

export function formed<T>({ problem }: Form, option: string): z.ZodType<T> {
  return z.custom<T>().superRefine((value, context) => {
    const found = problem(value, option);
    if (found !== undefined) context.addIssue({ code: 'custom', message: `is refused: ${found}` });
  });
}
