type Refuse = (problem: string) => never;
type Fields = Readonly<Record<string, unknown>>;

interface Form {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const retry: Form = { required: [], optional: ['shouldRetry', 'isRetryable', 'backoff', 'giveUp'] };
const failover: Form = { required: ['shouldFailover', 'getFailoverModel'], optional: [] };

/** Refuses what says nothing about retries, and names the field. A misspelt function would never be asked. */
export function checkRetryOptions(options: Readonly<Record<string, unknown>>, refuse: Refuse): void {
  checkForm('retry', options['retry'], retry, refuse);
  checkForm('failover', options['failover'], failover, refuse);
  for (const [field, form] of Object.entries({ retry, failover })) {
    const layers = ((options['middleware'] ?? []) as readonly Fields[]).filter((layer) => layer[field] !== undefined);
    for (const layer of layers) checkForm(`${field} of the middleware "${String(layer['name'])}"`, layer[field], form, refuse);
    const given = [
      ...(options[field] === undefined ? [] : ['the agent itself']),
      ...layers.map(({ name }) => `the middleware "${String(name)}"`),
    ];
    if (given.length > 1) refuse(`${given.join(' and ')} say when another model call is made (${field}); keep one of them.`);
  }
}

function checkForm(name: string, value: unknown, { required, optional }: Form, refuse: Refuse): void {
  if (value === undefined) return;
  const functions = [...required, ...optional];
  const fields = ['maxRetries', ...functions].join(', ');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(`${name} is an object with ${fields}.`);
  const given = value as Readonly<Record<string, unknown>>;
  const { maxRetries } = given;
  if (!Number.isInteger(maxRetries) || (maxRetries as number) < 0) refuse(`${name}.maxRetries is a whole number of at least 0.`);
  const unknown = Object.keys(given).find((field) => field !== 'maxRetries' && !functions.includes(field));
  if (unknown !== undefined) refuse(`${name} has a field "${unknown}", which means nothing. It may have: ${fields}.`);
  for (const field of required) if (typeof given[field] !== 'function') refuse(`${name}.${field} is required; it is a function.`);
  for (const field of optional)
    if (given[field] !== undefined && typeof given[field] !== 'function') refuse(`${name}.${field} is a function.`);
}
