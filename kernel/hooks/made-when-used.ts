/** An object that is made when it is first looked at. To whoever has it, it is that object. */
export function madeWhenUsed<T extends object>(make: () => T): T {
  return new Proxy({}, new MadeWhenUsed(make)) as T;
}

class MadeWhenUsed<T extends object> implements ProxyHandler<object> {
  private made: T | undefined;

  constructor(private readonly make: () => T) {}

  private get object(): T {
    return (this.made ??= this.make());
  }

  get(_: object, key: PropertyKey): unknown {
    return Reflect.get(this.object, key);
  }

  has(_: object, key: PropertyKey): boolean {
    return Reflect.has(this.object, key);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.object);
  }

  getOwnPropertyDescriptor(_: object, key: PropertyKey): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.object, key);
  }

  defineProperty(_: object, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    return Reflect.defineProperty(this.object, key, descriptor);
  }

  /** What is frozen has to be there, where the engine looks for it. */
  preventExtensions(target: object): boolean {
    this.made = Object.defineProperties(target as T, Object.getOwnPropertyDescriptors(this.object));
    return Reflect.preventExtensions(target);
  }

  deleteProperty(_: object, key: PropertyKey): boolean {
    return Reflect.deleteProperty(this.object, key);
  }
}
