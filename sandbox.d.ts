/** What the workflow sandbox has beside ECMAScript. Nothing else compiles in kernel/, middleware workflow halves and workflows/. */
interface ErrorConstructor {
  /** V8's own: how many frames a stack has. */
  stackTraceLimit: number;
}
declare const console: { log(...values: unknown[]): void; warn(...values: unknown[]): void; error(...values: unknown[]): void };
declare class AbortController {
  readonly signal: { readonly aborted: boolean; readonly reason: unknown };
  abort(reason?: unknown): void;
}
declare class TextEncoder {
  encode(text: string): Uint8Array;
}
declare class URL {
  constructor(url: string, base?: string);
  readonly href: string;
  readonly hostname: string;
  readonly pathname: string;
}
