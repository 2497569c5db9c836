/** A function gives a value that changes while the service runs. */
export type Changing<Value extends object> = Value | (() => Value | undefined);

export function current<Value extends object>(given: Changing<Value> | undefined): Value | undefined {
  return typeof given === 'function' ? given() : given;
}
