const saying = (text: string | RegExp): string =>
  (typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)) as string;

/** An error with this code, and with this text or pattern in its message. */
export const coded = (code: string, message: string | RegExp = ''): Error =>
  expect.objectContaining({ code, message: saying(message) }) as Error;

/** The outcome of a run that failed so. */
export const failure = (code: string, message?: string | RegExp) => ({ status: 'failed', error: coded(code, message) });
