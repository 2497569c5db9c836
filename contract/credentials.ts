/** A password may contain an @. Bounds keep the search fast in long texts. */
const inUrls = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'`<>]+@/gi;
/** An address without a scheme. */
const inAddress = /^[^\s/@:]+:[^\s/]*@(?=[^\s@]+$)/;

export function withoutCredentials(text: string): string {
  return text.replace(inUrls, '$1[credentials]@').replace(inAddress, '[credentials]@');
}
