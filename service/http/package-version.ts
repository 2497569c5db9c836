export function packageVersion(): string {
  // Sources and dist both find the package by name.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require('holdfast/package.json') as { readonly version: string }).version;
}
